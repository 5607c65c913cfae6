"""The memory as one page of HTML: no script, nothing from the network, every text only text.

Pure. The page forbids scripts and other files to itself, so that a browser holds it to that.
"""

from collections.abc import Sequence

from commands.documents.facts import MARKER, Part, facts, introduction, labelled, parts
from commands.documents.html import as_line, as_name, as_text
from commands.exchange.export_words import word
from core.lessons.answers.rendering import warning
from core.lessons.record import Record
from core.messages import Language

_STYLE = """
:root { color-scheme: light dark; --ground: #fbfaf7; --ink: #1f2328; --soft: #57606a;
  --line: #d5d2c8; --card: #ffffff; --warn: #8a2c0d; --link: #0b57a4; }
@media (prefers-color-scheme: dark) { :root { --ground: #16181c; --ink: #e6e6e3; --soft: #a6adb6;
  --line: #3a3f47; --card: #1e2126; --warn: #ffb59b; --link: #8cc4ff; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); line-height: 1.6;
  font-family: system-ui, "Apple SD Gothic Neo", "Malgun Gothic", "Noto Sans KR", sans-serif; }
main { max-width: 46rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; overflow-wrap: anywhere;
  word-break: keep-all; }
h1 { font-size: 1.6rem; line-height: 1.3; margin: 0 0 .25rem; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 0; border-bottom: 1px solid var(--line); }
h3 { font-size: 1.05rem; margin: 1.75rem 0 .5rem; }
a { color: var(--link); }
nav ul { list-style: none; display: flex; flex-wrap: wrap; gap: .25rem 1rem; padding: 0; }
article { background: var(--card); border: 1px solid var(--line); border-radius: .5rem;
  padding: .75rem 1rem; margin: .75rem 0; }
p, dl { margin: 0; }
dl { margin-top: .5rem; }
dt, .facts { color: var(--soft); font-size: .875rem; }
dd { margin: 0 0 .4rem; }
.text { white-space: pre-wrap; }
.lesson { font-weight: 600; }
.warning { color: var(--warn); margin-bottom: .4rem; }
.warning::before { content: "⚠ "; }
.facts { margin-top: .5rem; }
@media print { article { break-inside: avoid; } }
"""

_HEAD = """<!doctype html>
{marker}
<html lang="{lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<main>
<h1>{title}</h1>
<p>{introduction}</p>
"""


def html(records: Sequence[Record], project: str, lang: Language, *, now: str) -> str:
    """The page: a section for each type and topic, an article for each record."""
    told = introduction(records, lang, now) if records else word(lang, "empty")
    title = as_line(word(lang, "title", project=project))
    head = _HEAD.format(
        marker=MARKER, lang=lang, title=title, style=_STYLE, introduction=as_line(told)
    )
    lines = [line for part in parts(records, lang) for line in _part(part, lang)]
    return head + "".join(f"{line}\n" for line in [*lines, "</main>", "</body>", "</html>"])


def _contents(part: Part, lang: Language) -> list[str]:
    """Links to the topics of a part; not worth it for one."""
    if len(part.groups) < 2:
        return []
    label = as_line(f"{word(lang, 'topics')}: {part.heading}")
    links = [
        f'<li><a href="#{_anchor(part, at)}">{as_name(group.topic)}</a> {len(group.records)}</li>'
        for at, group in enumerate(part.groups)
    ]
    return [f'<nav aria-label="{label}">', "<ul>", *links, "</ul>", "</nav>"]


def _part(part: Part, lang: Language) -> list[str]:
    lines = [f'<section aria-labelledby="{part.type}">']
    lines.append(f'<h2 id="{part.type}">{as_line(part.heading)}</h2>')
    lines += _contents(part, lang)
    for at, group in enumerate(part.groups):
        lines.append(f'<h3 id="{_anchor(part, at)}" dir="auto">{as_name(group.topic)}</h3>')
        for record in group.records:
            lines += _article(record, lang)
    return [*lines, "</section>"]


def _article(record: Record, lang: Language) -> list[str]:
    lines = ["<article>"]
    if noted := warning(record, lang):
        lines.append(f'<p class="warning">{as_line(noted)}</p>')
    lines.append(f'<p class="lesson text" dir="auto">{as_text(record.lesson)}</p>')
    more = [(label, as_text(text)) for label, text in labelled(record, lang)]
    if record.paths:
        shown = ", ".join(f"<code>{as_line(path)}</code>" for path in record.paths)
        more.append((word(lang, "paths"), shown))
    if more:
        lines.append("<dl>")
        for label, text in more:
            lines.append(f'<dt>{as_line(label)}</dt><dd class="text" dir="auto">{text}</dd>')
        lines.append("</dl>")
    told = " · ".join(map(as_line, facts(record, lang)))
    return [*lines, f'<p class="facts">{told}</p>', "</article>"]


def _anchor(part: Part, at: int) -> str:
    return f"{part.type}-{at + 1}"
