"""Lists the records that fit some words, the most relevant first."""

import argparse

from commands.records.filters import add_filters, filtered, nothing_lines, print_json
from commands.records.lines import print_within, record_table
from commands.records.words import word
from commands.terminal.console import add_project, open_memory
from commands.terminal.screen import screen_here
from core.text.ranking import rank_hits


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py search`."""
    parser.add_argument("words", metavar="WORD", nargs="+", help="what is looked for")
    add_project(parser)
    add_filters(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print what was found; always 0. Raises SentinelError when the log cannot be read."""
    opened = open_memory(arguments)
    lang, log, query = opened.lang, opened.store.read(), " ".join(arguments.words)
    fitting = filtered(log.records, arguments)
    texts = ["\n".join(record.texts) for record in fitting]
    found = [fitting[at] for at in rank_hits(query, texts)]
    shown = found[: arguments.limit]
    if arguments.json:
        print_json(opened, shown, query=query, total=log.count, found=len(found))
        return 0
    if shown:
        screen = screen_here()
        lines = record_table(shown, log.records, screen, lang, questions=arguments.open)
        facts = {"shown": len(shown), "found": len(found), "without": len(fitting) - len(found)}
        lines += ["", word(lang, "searched", **facts)]
    elif fitting:
        lines = [word(lang, "no_hit", count=len(fitting))]
    else:
        lines = nothing_lines(opened, log, arguments)
    print_within(lines)
    return 0
