"""Writes fragments as one page of HTML without a script, in which texts stay texts."""

from collections.abc import Iterator
from html import escape

from core.exchange.html import END, begins_with, head_of, line, spoken, text_element
from core.messages import Language
from rooms.fragments.exchange.document import MARK, Form, Head, Whole, facts_of
from rooms.fragments.exchange.words import say
from rooms.fragments.fragment import plain_keyword


def _pieces(head: Head, wholes: Iterator[Whole]) -> Iterator[str]:
    intro = say(head.lang, "intro", count=head.count, date=head.exported[:10])
    title = say(head.lang, "title")
    yield head_of(MARK, title, intro if head.count else say(head.lang, "none"), head.lang)
    topic: str | None = None
    for whole in wholes:
        if topic is None or plain_keyword(whole.fragment.topic) != plain_keyword(topic):
            topic = whole.fragment.topic
            yield f"<h2 {spoken(topic, head.lang)}>{line(topic)}</h2>\n"
        yield _article(whole, head.lang)
    yield END


def _article(whole: Whole, lang: Language) -> str:
    fragment = whole.fragment
    name = line(fragment.id)
    parts = [f'<a class="number" href="#f-{name}">{name}</a>']
    parts += [f"<span>{line(fact)}</span>" for fact in facts_of(fragment, lang)]
    parts += [f'<span class="tag"><bdi>{line(it)}</bdi></span>' for it in fragment.keywords]
    lines = [
        f'<article id="f-{name}">',
        text_element("p", fragment.content, lang),
        f'<p class="facts">{" ".join(parts)}</p>',
    ]
    if items := [*_joints(whole, lang), *_versions(whole, lang)]:
        lines += ["<ul>", *items, "</ul>"]
    return "\n".join([*lines, "</article>", ""])


def _joints(whole: Whole, lang: Language) -> Iterator[str]:
    for word, other in whole.joints:
        label = f'<span class="state">{escape(say(lang, word))}</span>'
        link = f'<a href="#f-{line(other.id)}">{line(other.id)}</a>'
        yield f"<li>{label} {link} {text_element('span', other.content, lang)}</li>"


def _versions(whole: Whole, lang: Language) -> Iterator[str]:
    for version in whole.versions:
        label = escape(say(lang, "before", date=version.amended_at[:10]))
        text = text_element("span", version.content, lang)
        yield f'<li><span class="state">{label}</span> {text}</li>'


HTML = Form((".html", ".htm"), begins_with(MARK), wholes=_pieces)
