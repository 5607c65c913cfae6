"""Draws how a figure changed over time, as SVG for the eye and as a table for everybody."""

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
    """One figure at several moments, drawn as steps.

    part: a second figure that the first includes, drawn dashed, with its `part_label`. beside: a
    figure of another unit, only in the table.
    """

    name: str
    title: str
    label: str
    dates: Sequence[str]
    values: Sequence[int]
    part: Sequence[int] = ()
    part_label: str = ""
    beside: Sequence[int] = ()
    beside_label: str = ""


def plot(series: Series, lang: Language) -> list[str]:
    """Return the lines of a figure: a drawing, and a table of the same."""
    top = nice_ceiling(max(series.values, default=0))
    days = [day_of(date) for date in series.dates]
    label = word(
        lang,
        "plot_told",
        first=series.values[0],
        from_=days[0],
        last=series.values[-1],
        to=days[-1],
    )
    name = f"plot-{series.name}"
    lines = [
        f'<figure aria-labelledby="{name}">',
        f'<figcaption id="{name}"><h3>{as_line(series.title)}</h3></figcaption>',
        '<div class="plot">',
        f'<div class="scale" aria-hidden="true"><span class="top">{top:,}</span>'
        '<span class="bottom">0</span></div>',
        f'<svg viewBox="0 0 {WIDTH:g} {HEIGHT:g}" preserveAspectRatio="none" role="img"'
        f' aria-label="{as_line(label)}">',
        *_drawing(series, top, days),
        "</svg>",
        f'<div class="dates" aria-hidden="true"><span class="from">{days[0]}</span>'
        f'<span class="to">{days[-1]}</span></div>',
        "</div>",
    ]
    if series.part:
        lines.append(
            f'<p class="legend"><span>{as_line(series.label)}</span>'
            f'<span class="some">{as_line(series.part_label)}</span></p>'
        )
    return [*lines, *_table(series, days, lang), "</figure>"]


def nice_ceiling(value: int) -> int:
    """Return the end of a scale: the next of 1, 2, 3, 4, 5, 6, 8, 10 times a power of ten."""
    power = 1
    while value > 10 * power:
        power *= 10
    return next(step * power for step in (1, 2, 3, 4, 5, 6, 8, 10) if step * power >= value)


def _drawing(series: Series, top: int, days: Sequence[str]) -> list[str]:
    moments = [seconds_of(date) for date in series.dates]
    begin, span = moments[0], max(moments[-1] - moments[0], 1.0)
    across = [(moment - begin) / span * WIDTH for moment in moments]
    if len(across) == 1:
        across = [0.0]
    steps = _steps(across, series.values, top)
    lines = [f'<path class="area" d="M0 {HEIGHT:g} {steps} V{HEIGHT:g} Z"/>']
    lines.append(f'<path class="all" d="M{steps[1:]}"/>')
    if series.part:
        lines.append(f'<path class="some" d="M{_steps(across, series.part, top)[1:]}"/>')
    ends = [*across[1:], WIDTH]
    for at, (left, right) in enumerate(zip(across, ends, strict=True)):
        title = f"{days[at]}: {series.values[at]:,}"
        if series.part:
            title += f" ({series.part_label} {series.part[at]:,})"
        lines.append(
            f'<rect class="band" x="{left:.1f}" y="0" width="{max(right - left, 1):.1f}"'
            f' height="{HEIGHT:g}"><title>{as_line(title)}</title></rect>'
        )
    return lines


def _steps(across: Sequence[float], values: Sequence[int], top: int) -> str:
    """Return the path from the first value to the right edge; its first letter is replaced."""
    points = list[str]()
    for x, value in zip(across, values, strict=True):
        y = HEIGHT - value / top * (HEIGHT - 8)
        points.append(f"L{x:.1f} {y:.1f}" if not points else f"H{x:.1f} V{y:.1f}")
    return " ".join([*points, f"H{WIDTH:g}"])


def _table(series: Series, days: Sequence[str], lang: Language) -> list[str]:
    """Return the same figures as a table, newest first, for those who do not see the drawing."""
    columns = {series.label: series.values, series.part_label: series.part}
    columns |= {series.beside_label: series.beside}
    shown = {label: values for label, values in columns.items() if values}
    labels = [word(lang, "date"), *shown]
    head = "".join(f'<th scope="col">{as_line(label)}</th>' for label in labels)
    rows = []
    for at in reversed(range(len(days))):
        cells = [days[at], *(f"{values[at]:,}" for values in shown.values())]
        rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    return [
        f'<details class="soft"><summary>{as_line(word(lang, "as_table"))}</summary>',
        '<div class="scroll" tabindex="0" role="region"'
        f' aria-label="{as_line(series.title)}"><table><thead><tr>{head}</tr></thead><tbody>',
        *rows,
        "</tbody></table></div></details>",
    ]
