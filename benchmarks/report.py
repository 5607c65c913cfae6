"""Rows and sections of the comparison, and their two forms: for a screen, and in Markdown."""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

BEHIND_TEXT = (
    "Every row with ratios in which another memory server needs less, by more than 5 %. Rows"
    " without ratios, such as the seconds of a race, are to be compared in their tables."
)
Cell = float | str | None
NOISE = 0.95
Samples = Mapping[str, Sequence[float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One figure for several columns. Less is better, wherever a ratio is shown.

    cells: by column; None where it was not measured. ratios: to the first column, by column.
    """

    label: str
    cells: Mapping[str, Cell]
    ratios: Mapping[str, float]
    unit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A part of the report. The first column is the one that the others are compared with.

    floor: a column that does not do the same work and only shows what any server costs.
    broken: sentences about promises of this project that the figures show to be broken.
    """

    title: str
    text: str
    columns: Sequence[str]
    rows: Sequence[Row]
    floor: str = ""
    notes: Sequence[str] = ()
    broken: Sequence[str] = ()


def counted(label: str, cells: Mapping[str, Cell], unit: str = "") -> Row:
    """A row of figures without ratios: counts, verdicts, words."""
    return Row(label=label, cells=cells, ratios={}, unit=unit)


def compared(label: str, cells: Mapping[str, float | None], unit: str = "") -> Row:
    """A row of single figures, each but the first also as a ratio to the first."""
    values = list(cells.values())
    base = values[0] if values else None
    others = list(cells.items())[1:]
    ratios = {name: value / base for name, value in others if value is not None and base}
    return Row(label=label, cells=cells, ratios=ratios, unit=unit)


def measured(label: str, samples: Samples, unit: str) -> Row:
    """A row of medians over rounds; a ratio is the median of the ratios within each round.

    samples: by column, one figure for each round; a column without any was not measured.
    """
    cells = {
        name: float(statistics.median(them)) if them else None for name, them in samples.items()
    }
    base, *others = samples
    ratios = {
        name: statistics.median(
            other / ours for ours, other in zip(samples[base], samples[name], strict=True)
        )
        for name in others
        if samples[name] and samples[base]
    }
    return Row(label=label, cells=cells, ratios=ratios, unit=unit)


def shown(value: Cell, unit: str = "") -> str:
    """A cell as people read it: three digits that count, thousands parted."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    if isinstance(value, int) or value >= 100:
        digits = f"{value:,.0f}"
    else:
        digits = f"{value:.1f}" if value >= 10 else f"{value:.2f}"
    return f"{digits} {unit}".rstrip()


def cells_of(row: Row, columns: Iterable[str]) -> list[str]:
    """The texts of a row, with the ratio behind each figure that has one."""
    texts = []
    for name in columns:
        text = shown(row.cells.get(name), row.unit)
        ratio = row.ratios.get(name)
        texts.append(text if ratio is None else f"{text} ({ratio:.2f} x)")
    return texts


def as_table(section: Section) -> str:
    """The section for a screen, with aligned columns."""
    lines = [["", *section.columns]]
    lines += [[row.label, *cells_of(row, section.columns)] for row in section.rows]
    widths = [max(len(line[at]) for line in lines) for at in range(len(lines[0]))]
    text = []
    for first, *cells in lines:
        padded = [cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True)]
        text.append("  ".join([first.ljust(widths[0]), *padded]).rstrip())
    notes = [f"  {note}" for note in (*section.notes, *section.broken)]
    return "\n".join([section.title, *text, *notes, ""])


def as_markdown(section: Section) -> str:
    """The section for the document."""
    lines = [f"## {section.title}", "", section.text, ""]
    lines.append(_markdown_line(["", *section.columns]))
    lines.append("| --- |" + " ---: |" * len(section.columns))
    lines += [_markdown_line([row.label, *cells_of(row, section.columns)]) for row in section.rows]
    said = [*section.notes, *(f"**{sentence}**" for sentence in section.broken)]
    if said:
        lines += ["", *(f"- {note}" for note in said)]
    return "\n".join([*lines, ""])


def behind(sections: Iterable[Section]) -> list[str]:
    """The rows in which another memory server needs less than the first, by more than noise."""
    said = []
    for section in sections:
        for row in section.rows:
            better = [
                f"{name} {ratio:.2f} x"
                for name, ratio in row.ratios.items()
                if ratio < NOISE and name != section.floor
            ]
            if better:
                said.append(f"{section.title}, {row.label}: {', '.join(better)}")
    return said


def document(head: str, sections: Sequence[Section], tail: str) -> str:
    """The whole report in Markdown."""
    slower = behind(sections)
    parts = [head, *(as_markdown(section) for section in sections)]
    parts += ["## Where Sentinel-Memory needs more", "", BEHIND_TEXT, ""]
    parts += [f"- {sentence}" for sentence in slower] or ["Nowhere, by more than the noise."]
    return "\n".join([*parts, "", tail.strip(), ""])


def _markdown_line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
