"""Writes the folded end of the page: how the memory grew, what it costs, what was compacted."""

from commands.view.escaping import as_line, spoken
from commands.view.page import Page
from commands.view.plot import Series, plot
from commands.view.records import as_code, topic_link
from commands.view.words import word
from core.lessons.answers.rendering import day_of
from core.messages import Language


def statistics(page: Page, lang: Language) -> list[str]:
    """Return the lines of the statistics, folded."""
    growth = page.growth
    series = Series(
        title=word(lang, "plot_records"),
        dates=[point.date for point in growth],
        columns={
            word(lang, "records"): [point.records for point in growth],
            word(lang, "principles"): [point.principles for point in growth],
            word(lang, "tokens"): [point.tokens for point in growth],
            word(lang, "size"): [point.size for point in growth],
        },
        threshold=page.frame.threshold,
        marks=page.compactions,
    )
    lines = [
        '<section aria-labelledby="statistics-title">',
        '<details class="statistics" id="show=statistics"><summary>',
        f'<h2 id="statistics-title">{as_line(word(lang, "statistics"))}</h2></summary>',
        *plot(series, lang),
    ]
    if not page.is_from_git:
        lines.append(f'<p class="soft">{as_line(word(lang, "plot_today"))}</p>')
    return [*lines, *_cost(page, lang), *_last_compaction(page, lang), "</details>", "</section>"]


def _cost(page: Page, lang: Language) -> list[str]:
    """Return what the search that begins a task costs a model."""
    search = page.search
    key = "cost_all" if search.shows_all else "cost_part"
    text = word(lang, key, tokens=search.tokens, whole=search.whole_tokens)
    return [f"<p>{as_line(text)}</p>"]


def _last_compaction(page: Page, lang: Language) -> list[str]:
    """Return the principles of the last compaction, each with a link."""
    if not page.last_compacted:
        return [f"<p>{as_line(word(lang, 'never_compacted'))}</p>"]
    replaced = sum(entry.record.source_count or 0 for entry in page.last_compacted)
    date, principles = day_of(page.compaction.last), len(page.last_compacted)
    title = word(lang, "last_compaction", date=date, principles=principles, count=replaced)
    return [
        f"<h3>{as_line(title)}</h3>",
        '<ul class="listed">',
        *(
            f'<li><div><a href="#{entry.anchor}" {spoken(entry.record.lesson, lang)}>'
            f"{as_code(as_line(entry.record.lesson))}</a>"
            f" {topic_link(entry.record.topic)}</div></li>"
            for entry in page.last_compacted
        ),
        "</ul>",
    ]
