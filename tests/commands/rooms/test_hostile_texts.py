"""Tests that no text of a record becomes an import, a command or a marker for a client."""

import re
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from commands.clients.merge import markers
from commands.rooms.exchange import BLOCK, lessons, markdown
from commands.rooms.sources import MARKER
from core.lessons.record import Record, new_record
from rooms.lessons import item_of
from tests.support.cli_process import Command, Run
from tests.support.git_clones import write
from tests.support.samples import NOW, a_principle

BEGIN, END = markers(BLOCK)
NAMES = ["@./.env", "@~/.ssh/id_rsa", "@/etc/passwd", "@README.md", "@a\\ b.md", "@../x#y"]
SIGNS = ["`", "``", "```", "~~~", "*", "_", "[", "]", "](./.env)", "!`id`", "#file:.env"]
SIGNS += [BEGIN, END, *markers("rules"), MARKER, "<!--", "-->", "---", "\n---\n", "\r\n", "\x0b"]
SIGNS += ["\n", "\n\n", " ", "\\", "a", "가", "&", "#", "\u200b", "\u2028", "[x](mdc:.env)"]
TEXTS = st.lists(st.sampled_from([*NAMES, *SIGNS]), min_size=1, max_size=9).map("".join)
# A name behind a letter or digit is an address; a link, a file and a command have signs before.
ACTIVE = re.compile(r"(?<![^\W_])@[^\s`]|#(?:file|tool):|\]\(|!`")


def hostile(text: str, *paths: str) -> Record:
    """A record as a hand can write it, with this text wherever one stands."""
    made = new_record(a_principle("x", ask_next_time="y", paths=["src/**"]), now=NOW)
    made = replace(made, topic=text.strip() or "t", lesson=text, ask_next_time=text)
    return replace(made, paths=("src/**", *paths))


SPAN = re.compile(r"\\[\\`]|(?<!`)(?P<ticks>`+)(?!`)(?:.*?[^`])(?P=ticks)(?!`)", re.DOTALL)


def without_code(text: str) -> str:
    """What of a document is neither code nor a comment, as it stands there."""
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text)
    inline = [token.content for token in tokens if token.type == "inline"]
    return "\n".join(SPAN.sub(lambda it: "``" if it["ticks"] else it[0], it) for it in inline)


@pytest.fixture
def export(capsys: pytest.CaptureFixture[str], project: Path) -> Command:
    return partial(Run.of, capsys, "export")


@pytest.mark.long  # it costs much
@given(TEXTS)
@example("@./.env")
@example("*x*@./.env `a`@./.env _@./.env [@./.env](@./.env)")
@example("`@./.env` !`id` `@./.env`")
def test_no_text_names_a_file_or_a_command_for_a_client(text: str) -> None:
    records = [hostile(text, "@./.env", "`@./.env")]
    block = "\n".join(lessons(records))
    items = [*map(item_of, records)]
    for document in (markdown(items, text, counts=Counter(["lessons"]), now=NOW), block):
        assert ACTIVE.findall(without_code(document)) == []


def test_names_of_files_and_commands_read_as_they_were_written() -> None:
    text = "Put it into @./.env of me@shop.kr, `@Bean` stays; see #file:a.md, [it](./b), run !`id`"
    record = hostile(text)
    shown = lessons([record])[0].removeprefix("- ")
    assert shown == (
        r"Put it into &#64;./.env of me@shop.kr, `@Bean` stays; see &#35;file:a.md,"
        r" \[it\]\(./b), run !\`id\`"
    )
    [_, token, *_] = MarkdownIt("commonmark").parse(shown)
    assert "".join(it.content for it in token.children or ()) == text.replace("`@Bean`", "@Bean")


def as_told(record: Record, field: str, text: str) -> Record:
    told: dict[str, Any] = {field: text}
    return replace(record, **told)


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("field", ["topic", "lesson", "ask_next_time", "path"])
@pytest.mark.parametrize("before", [b"", b"# Ours\n", b"# Ours\r\n\r\nlast"])
def test_no_marker_in_a_record_keeps_a_line_of_the_block(
    export: Command, project: Path, field: str, before: bytes
) -> None:
    found = []
    for at, text in enumerate((END, BEGIN, f"{END}\n{BEGIN}", f"`{END}`", f"``{END}``", MARKER)):
        made = hostile(f"{text} {at}", text) if field == "path" else hostile(f"rule {at}")
        found.append(made if field == "path" else as_told(made, field, f"{text} {at}"))
    write(project, *found)
    (project / "AGENTS.md").write_bytes(before)
    assert export("--block", "AGENTS.md").code == 0
    once = (project / "AGENTS.md").read_bytes()
    assert (once.count(BEGIN.encode()), once.count(END.encode())) == (1, 1)
    assert export("--block", "AGENTS.md").code == 0
    assert (project / "AGENTS.md").read_bytes() == once
    assert export("--block", "AGENTS.md", "--remove").code == 0
    left = project / "AGENTS.md"
    assert (left.read_bytes() if left.exists() else b"") == before
