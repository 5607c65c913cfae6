"""Writes fragments as Markdown, in which no text becomes a heading, a link, a table or a tag."""

from collections.abc import Iterator

from core.messages import Language
from core.text.markdown import as_code, escaped_lines, heading, inline, listed
from core.text.printable import one_line
from rooms.fragments.exchange.document import MARK, Form, Head, Whole, facts_of
from rooms.fragments.exchange.words import say
from rooms.fragments.fragment import plain_keyword

_BEGINS = f"<!-- {MARK}:"


def _pieces(head: Head, wholes: Iterator[Whole]) -> Iterator[str]:
    intro = say(head.lang, "intro", count=head.count, date=head.exported[:10])
    lines = [
        f"{_BEGINS} the next export may replace this file -->",
        f"# {heading(say(head.lang, 'title'))}",
        "",
        intro if head.count else say(head.lang, "none"),
    ]
    yield "\n".join([*lines, ""])
    topic: str | None = None
    for whole in wholes:
        if topic is None or plain_keyword(whole.fragment.topic) != plain_keyword(topic):
            topic = whole.fragment.topic
            yield f"\n## {heading(topic)}\n\n"
        yield "\n".join([*_item(whole, head.lang), ""])


def _item(whole: Whole, lang: Language) -> Iterator[str]:
    fragment = whole.fragment
    yield from listed("- ", escaped_lines(fragment.content))
    facts = [*map(inline, facts_of(fragment, lang)), as_code(fragment.id)]
    keywords = ", ".join(as_code(one_line(it)) for it in fragment.keywords)
    yield f"  - {'; '.join([*facts, *([keywords] if keywords else ())])}"
    for joint in whole.joints:
        other = joint.other
        label = f"  - {say(lang, joint.word)} {as_code(other.id)}: "
        yield from listed(label, [inline(one_line(other.content))])
    for version in whole.versions:
        label = say(lang, "before", date=version.amended_at[:10])
        yield from listed(f"  - {label}: ", escaped_lines(version.content))


MARKDOWN = Form((".md", ".markdown"), _BEGINS, wholes=_pieces)
