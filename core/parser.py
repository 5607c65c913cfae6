"""Parses a command line, lays out its help, and says what is wrong, in the reader's language."""

import argparse
import difflib
import re
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise, takewhile
from typing import Any, NoReturn

from core.messages import has_sentence, say
from core.program import CLI, printable_fact

FROM_ENVIRONMENT = "PORT"  # the value of `--http` without a port

MOST_WIDTH, _LEAST_WIDTH = 100, 40
_MISTAKES = {  # that argparse words, by the keys of our sentences
    "parser.lacking": r"the following arguments are required: (?P<names>.+)",
    "parser.no_value": r"(?P<name>\S+): expected (?:at least )?one argument",
    "parser.no_place": r"(?P<name>\S+): ignored explicit argument (?P<value>.+)",
    "terminal.together": r"(?P<one>\S+): not allowed with argument (?P<other>\S+)",
    "parser.command": r"COMMAND: invalid choice: '?(?P<value>.+?)'? \(choose from (?P<names>.+)\)",
    "parser.choice": r"(?P<name>\S+): invalid choice: (?P<value>.+) \(choose from (?P<names>.+)\)",
}
_WIDE = "\0"  # stands behind a character of two cells while lines are broken by their length


class HelpPage(argparse.HelpFormatter):
    """Lays out the help by the cells of the terminal; no word has a line alone."""

    def __init__(self, prog: str, **_: Any) -> None:
        columns = shutil.get_terminal_size((80, 24)).columns
        super().__init__(prog, width=max(min(columns, MOST_WIDTH), _LEAST_WIDTH) - 1)

    def add_usage(self, usage: Any, actions: Any, groups: Any, prefix: Any = None) -> None:
        title = say("parser.usage") if prefix is None else prefix
        super().add_usage(usage, actions, groups, _with_padding(title))

    def start_section(self, heading: str | None) -> None:
        if heading is not None and has_sentence(f"parser.{heading}"):
            heading = say(f"parser.{heading}")
        super().start_section(heading)

    def format_help(self) -> str:
        return super().format_help().replace(_WIDE, "")

    def _split_lines(self, text: str, width: int) -> list[str]:
        return wrap_text(text, width)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines = text.split("\n") if "\n" in text else wrap_text(text, width - len(indent))
        return "\n".join(indent + line for line in lines)

    def _format_action_invocation(self, action: argparse.Action) -> str:
        if not action.option_strings or action.nargs == 0:
            return super()._format_action_invocation(action)
        value = self._format_args(action, self._get_default_metavar_for_optional(action))
        return f"{', '.join(action.option_strings)} {value}"


class Parser(argparse.ArgumentParser):
    """A parser, and those of its commands, whose refusals are safe on a terminal."""

    def __init__(self, *, page: Callable[[], str] | None = None, **more: Any) -> None:
        """Make a parser with `--help`. page: printed instead of the usual help."""
        super().__init__(formatter_class=HelpPage, add_help=False, allow_abbrev=False, **more)
        self._page = page
        self.color = False  # Python 3.14 would decide on its own
        self.add_argument("-h", "--help", action="help", help=say("parser.help"))

    def format_help(self) -> str:
        return self._page() if self._page else super().format_help()

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        words = self._join_texts(sys.argv[1:] if args is None else args)
        # Before argparse misses an argument: the option may be meant for the missing one.
        for previous, word in pairwise(["", *takewhile(lambda word: word != "--", words)]):
            option = self._option_string_actions.get(previous)
            if self._is_text(word) and not (option and option.nargs != 0):
                self._refuse(word)
        options, unknown_words = super().parse_known_args(words, namespace)
        if unknown_words and ("--" in words or not unknown_words[0].startswith("-")):
            self.error(say("parser.too_many", value=unknown_words[0]))
        if unknown_words:
            self._refuse(unknown_words[0])
        return options, unknown_words

    def _refuse(self, word: str) -> NoReturn:
        name = word.partition("=")[0]
        refusal = say("parser.option", value=name)
        self.error(with_nearest_name(refusal, name, self._option_string_actions))

    def _join_texts(self, words: Sequence[str]) -> list[str]:
        """Return the words, a text that begins with a dash joined to the option before it."""
        result, rest = list[str](), list(words)
        while rest and rest[0] != "--":
            word = rest.pop(0)
            action = self._option_string_actions.get(word)
            is_text = action and action.nargs is None and not (action.type or action.choices)
            if is_text and rest and self._is_text(rest[0]):
                word = f"{word}={rest.pop(0)}"
            result.append(word)
        return [*result, *rest]

    def _is_text(self, word: str) -> bool:
        options = self._option_string_actions
        names = {word.partition("=")[0], word if word.startswith("--") else word[:2]}
        return word.startswith("-") and word.strip("-") != "" and not names & options.keys()

    def error(self, message: str) -> NoReturn:
        """Say the mistake and the way to the help, and end with 2. Raises SystemExit."""
        message = message.removeprefix("argument ")
        for key, pattern in _MISTAKES.items():
            if match := re.fullmatch(pattern, message):
                facts = match.groupdict()
                known_names = re.findall(r"[^\s,']+", facts.get("names", ""))
                value = facts.get("value", "").strip("'")
                message = with_nearest_name(say(key, **facts), value, known_names)
                break
        help_command = f"{self.prog} --help"
        if f"{self.prog} ".startswith(f"{CLI} "):
            command = self.prog[len(CLI) :].split()
            help_command = " ".join([CLI, "help", *(name for name in command if name != "help")])
        lines = [f"{self.prog}: {printable_fact(message)}"]
        if sys.stderr and sys.stderr.isatty():
            columns = shutil.get_terminal_size((80, 24)).columns
            lines = wrap_text(lines[0], max(columns, _LEAST_WIDTH))
        lines.append(say("parser.see", command=help_command))  # which is copied from one line
        self.exit(2, "\n".join(lines) + "\n")


def with_nearest_name(refusal: str, name: str, names: Iterable[str]) -> str:
    """Return a refusal with the known name that may have been meant."""
    suggestion = nearest_name(name, names)
    return f"{refusal} {say('parser.near', near=suggestion)}" if suggestion else refusal


def add_project(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-p", "--project", metavar="DIR", help=say("parser.project"))


def add_serving(parser: argparse.ArgumentParser) -> None:
    help_text = say("parser.http")
    parser.add_argument("--http", nargs="?", const=FROM_ENVIRONMENT, metavar="PORT", help=help_text)
    parser.add_argument("--host", metavar="HOST", help=say("parser.host"))
    parser.add_argument("--url", metavar="URL", help=say("parser.url"))
    parser.add_argument("--sse", action="store_true", help=say("parser.sse"))
    parser.add_argument("--no-auth", action="store_true", help=say("parser.no_auth"))


def wants_http(options: argparse.Namespace) -> bool:
    values = (options.http, options.host, options.url, options.sse, options.no_auth)
    return any(value not in (None, False) for value in values)


def add_version(parser: argparse.ArgumentParser, text: str) -> None:
    help_text = say("parser.version")
    parser.add_argument("-V", "--version", action="version", version=text, help=help_text)


def choice_of(names: Sequence[str]) -> Callable[[str], str]:
    """Return a converter to one of these names, for an optional or repeated argument.

    `choices` of Python 3.11 refuses a missing one.
    """

    def check_name(text: str) -> str:
        if text not in names:
            choices = ", ".join(names)
            raise argparse.ArgumentTypeError(f"invalid choice: {text!r} (choose from {choices})")
        return text

    return check_name


def nearest_name(name: str, names: Iterable[str]) -> str:
    """Return the name that somebody may have meant, "" for none.

    >>> nearest_name("serach", ["search", "add"])
    'search'
    """
    bare_name, originals = name.lstrip("-"), {other.lstrip("-"): other for other in names}
    matches = difflib.get_close_matches(bare_name, originals, n=1)
    matches += [other for other in originals if bare_name and other.startswith(bare_name)]
    return originals[matches[0]] if matches else ""


def wrap_text(text: str, width: int) -> list[str]:
    """Break a text at blanks into lines of so many cells, with two words or more in the last."""
    words = _with_padding(" ".join(text.split()))
    for narrower in range(width, width // 2, -1):
        lines = textwrap.wrap(words, narrower, break_long_words=False, break_on_hyphens=False)
        if len(lines) < 2 or " " in lines[-1]:
            break
    return [line.replace(_WIDE, "") for line in lines]


def _with_padding(text: str) -> str:
    return "".join(
        char + _WIDE if unicodedata.east_asian_width(char) in "WF" else char for char in text
    )
