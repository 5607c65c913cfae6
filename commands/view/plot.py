"""Draws how the number of records changed over time, as SVG for the eye and as a table for all."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from commands.view.escaping import as_line
from commands.view.words import word
from core.lessons.answers.rendering import day_of
from core.lessons.record import seconds_of
from core.messages import Language

WIDTH, HEIGHT = 600.0, 160.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """A figure at several moments, drawn as steps, and columns of others for the table.

    columns: by their labels; the first one is drawn. threshold: where the dashed line is. marks:
    days that bear a point.
    """

    title: str
    dates: Sequence[str]
    columns: dict[str, Sequence[int]]
    threshold: int
    marks: Sequence[str] = ()

    @property
    def values(self) -> Sequence[int]:
        """The figure that is drawn."""
        return next(iter(self.columns.values()))


def plot(series: Series, lang: Language) -> list[str]:
    """Return the lines of a figure: a drawing, what its signs mean, and a table of the same."""
    values, days = series.values, [day_of(date) for date in series.dates]
    top = nice_ceiling(max(*values, series.threshold))
    told = word(lang, "plot_told", first=values[0], from_=days[0], last=values[-1], to=days[-1])
    across = _across(series.dates)
    drawing = (
        f'<svg viewBox="0 0 {WIDTH:g} {HEIGHT:g}" preserveAspectRatio="none" role="img"'
        f' tabindex="0" aria-label="{as_line(told)}"'
        f' data-at="{" ".join(f"{x:.1f}" for x in across)}">'
    )
    legend = [f'<span class="all">{as_line(next(iter(series.columns)))}</span>']
    limit = word(lang, "of_threshold", threshold=series.threshold)
    legend.append(f'<span class="limit">{as_line(limit)}</span>')
    if series.marks:
        legend.append(f'<span class="mark">{as_line(word(lang, "compaction"))}</span>')
    return [
        '<figure aria-labelledby="plot-records">',
        f'<figcaption id="plot-records">{as_line(series.title)}</figcaption>',
        '<div class="plot">',
        f'<div class="scale" aria-hidden="true"><span class="top">{top:,}</span>'
        '<span class="bottom">0</span></div>',
        drawing,
        *_drawing(series, across, top),
        "</svg>",
        f'<div class="dates" aria-hidden="true"><span class="from">{days[0]}</span>'
        f'<span class="to">{days[-1]}</span></div>',
        "</div>",
        f'<p class="legend">{"".join(legend)}<output id="told"></output></p>',
        *_table(series, days, lang),
        "</figure>",
    ]


def nice_ceiling(value: int) -> int:
    """Return the end of a scale: the next of 1, 2, 3, 4, 5, 6, 8, 10 times a power of ten."""
    power = 1
    while value > 10 * power:
        power *= 10
    return next(step * power for step in (1, 2, 3, 4, 5, 6, 8, 10) if step * power >= value)


def _across(dates: Sequence[str]) -> list[float]:
    """Return how far from the left each moment is."""
    moments = [seconds_of(date) for date in dates]
    begin, span = moments[0], max(moments[-1] - moments[0], 1.0)
    return [(moment - begin) / span * WIDTH for moment in moments] if len(dates) > 1 else [0.0]


def _drawing(series: Series, across: Sequence[float], top: int) -> list[str]:
    steps = _steps(across, series.values, top)
    limit = _height(series.threshold, top)
    lines = [
        f'<path class="area" d="M0 {HEIGHT:g} {steps} V{HEIGHT:g} Z"/>',
        f'<path class="limit" d="M0 {limit:.1f} H{WIDTH:g}"/>',
        f'<path class="all" d="M{steps[1:]}"/>',
    ]
    moments = [seconds_of(date) for date in series.dates]
    begin, span = moments[0], max(moments[-1] - moments[0], 1.0)
    for day in series.marks:
        # The day is over when it counts, so that the value is the one after the compaction.
        end_s = seconds_of(f"{day}T23:59:59+00:00")
        at = max(bisect_right(moments, end_s) - 1, 0)
        x = min(max((end_s - begin) / span, 0.0), 1.0) * WIDTH
        y = _height(series.values[at], top)
        lines.append(f'<path class="mark" d="M{x:.1f} {y:.1f} h0"/>')
    return [*lines, f'<path class="hair" d="M0 0 V{HEIGHT:g}" visibility="hidden"/>']


def _height(value: int, top: int) -> float:
    return HEIGHT - value / top * (HEIGHT - 8)


def _steps(across: Sequence[float], values: Sequence[int], top: int) -> str:
    """Return the path from the first value to the right edge; its first letter is replaced."""
    points = list[str]()
    for x, value in zip(across, values, strict=True):
        y = _height(value, top)
        points.append(f"L{x:.1f} {y:.1f}" if not points else f"H{x:.1f} V{y:.1f}")
    return " ".join([*points, f"H{WIDTH:g}"])


def _table(series: Series, days: Sequence[str], lang: Language) -> list[str]:
    """Return the same figures as a table, newest first, for those who do not see the drawing."""
    labels = [word(lang, "date"), *series.columns]
    head = "".join(f'<th scope="col">{as_line(label)}</th>' for label in labels)
    rows = []
    for at in reversed(range(len(days))):
        cells = [days[at], *(f"{values[at]:,}" for values in series.columns.values())]
        rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    return [
        f'<details class="soft"><summary>{as_line(word(lang, "as_table"))}</summary>',
        '<div class="scroll" tabindex="0" role="region"'
        f' aria-label="{as_line(series.title)}"><table><thead><tr>{head}</tr></thead><tbody>',
        *rows,
        "</tbody></table></div></details>",
    ]
