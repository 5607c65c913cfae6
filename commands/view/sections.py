"""Writes the parts of the page: the newest records, what comes back, topics, the first steps."""

from commands.view.escaping import as_line, as_name, as_text, spoken
from commands.view.page import Entry, Page, Topic
from commands.view.records import as_code, brief, card, topic_link
from core.messages import say

MOST_AGAIN = 5
STEPS = ("step_setup", "step_work", "step_view")


def newest(page: Page) -> list[str]:
    """Return what was saved last, in brief."""
    return [
        '<section aria-labelledby="newest-title">',
        f'<h2 id="newest-title">{as_line(say("view.newest"))}</h2>',
        *(line for entry in page.newest for line in brief(entry)),
        "</section>",
    ]


def again(page: Page) -> list[str]:
    """Return the records whose gap came back most often."""
    if not page.came_back:
        return []
    lines = [
        '<section id="again" aria-labelledby="again-title">',
        f'<h2 id="again-title">{as_line(say("view.listed_again"))}</h2>',
        f'<p class="soft">{as_line(say("view.again_why"))}</p>',
        '<ol class="listed">',
        *(_again(entry) for entry in page.came_back[:MOST_AGAIN]),
        "</ol>",
    ]
    if len(page.came_back) > MOST_AGAIN:
        every = as_line(say("view.again_all", count=len(page.came_back)))
        lines.append(f'<p><a href="#topics" data-to="type=again">{every}</a></p>')
    return [*lines, "</section>"]


def _again(entry: Entry) -> str:
    record = entry.record
    lesson = as_code(as_line(record.lesson))
    return (
        f'<li><span class="times">{record.seen:,}×</span><div>'
        f'<a href="#{entry.anchor}" {spoken(record.lesson)}>{lesson}</a>'
        f" {topic_link(record.topic)}</div></li>"
    )


def records(page: Page, also: str = "") -> list[str]:
    """Return all records by topic; the script folds the topics. also: as of `card`."""
    label = as_line(say("view.topics_filter"))
    return [
        '<section id="topics" aria-labelledby="topics-title">',
        '<div class="heading">',
        f'<h2 id="topics-title">{as_line(say("view.by_topic"))}</h2>',
        f'<input type="search" id="among-topics" class="live" aria-label="{label}"'
        f' placeholder="{label}" autocomplete="off" spellcheck="false" hidden>',
        "</div>",
        *(line for topic in page.topics for line in _topic(topic, also)),
        "</section>",
    ]


def _topic(topic: Topic, also: str) -> list[str]:
    cards = (line for entry in topic.entries for line in card(entry, also))
    return [
        f'<details class="topic" id="{as_line(topic.anchor)}" open>',
        f"<summary><h3 {spoken(topic.name)}>{as_name(topic.name)}</h3>"
        f' <span class="count">{len(topic.entries):,}</span></summary>',
        *cards,
        "</details>",
    ]


def beginning() -> list[str]:
    """Return what an empty memory shows: three steps, and how a lesson looks."""
    steps = (as_code(as_line(say(f"view.{step}"))) for step in STEPS)
    texts = (
        f"<div><dt>{as_line(say(f'documents.{name}'))}</dt>"
        f"<dd>{as_code(as_line(say(f'view.sample_{name}')))}</dd></div>"
        for name in ("missing", "ask")
    )
    return [
        '<section aria-labelledby="steps-title">',
        f'<h2 id="steps-title">{as_line(say("view.steps"))}</h2>',
        '<ol class="steps">',
        *(f"<li>{step}</li>" for step in steps),
        "</ol>",
        "</section>",
        '<section aria-labelledby="sample-title">',
        f'<h2 id="sample-title">{as_line(say("view.sample"))}</h2>',
        '<div class="card sample">',
        f'<p class="about"><span class="of">{as_line(say("view.sample_topic"))}</span></p>',
        f'<p class="lesson text">{as_code(as_text(say("view.sample_lesson")))}</p>',
        "<dl>",
        *texts,
        "</dl>",
        "</div>",
        "</section>",
    ]
