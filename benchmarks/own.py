"""The sections of the report about this server alone: tokens, what survives, the ranking."""

from collections.abc import Iterator

from plan import QUICK, Plan
from prose import (
    ESTIMATE_TEXT,
    FORMATS_NOTES,
    FORMATS_TEXT,
    NO_TOKENIZER,
    RANKING_TEXT,
    SPEED_TEXT,
    SURVIVAL_NOTES,
    SURVIVAL_TEXT,
)
from ranking import quality_rows, speed_rows
from report import Row, Section, counted
from survival import BUDGETS_TOKENS, SIZES, WAYS, shares
from tokens import KINDS, estimates, formats, tokenizer


def estimate_section(plan: Plan) -> Section:
    """How far the estimate of tokens is from a tokenizer."""
    columns = ("records", "all together", "lowest", "median", "highest")
    count = tokenizer()
    rows = [] if count is None else estimates(count)
    return Section(
        title="The estimate of tokens",
        text=ESTIMATE_TEXT if count else NO_TOKENIZER,
        columns=columns,
        rows=[
            counted(
                row.kind,
                dict(
                    zip(
                        columns,
                        (row.records, row.ratio, row.lowest, row.median, row.highest),
                        strict=True,
                    )
                ),
            )
            for row in rows
        ],
    )


def formats_section(plan: Plan) -> Section:
    """What a record costs in several formats."""
    count = tokenizer()
    columns = [column for kind in KINDS for column in (kind, f"{kind}, beside its texts")]
    rows = []
    for name, whole, beside in [] if count is None else formats(count):
        figures = [figure for pair in zip(whole, beside, strict=True) for figure in pair]
        rows.append(counted(name, dict(zip(columns, figures, strict=True))))
    return Section(
        title="Tokens of a record, by format",
        text=FORMATS_TEXT if count else NO_TOKENIZER,
        columns=columns,
        rows=rows,
        notes=FORMATS_NOTES,
    )


def survival_section(plan: Plan) -> Section:
    """How often the lesson that matters is shown whole."""
    sizes = SIZES[:1] if plan.rounds is QUICK else SIZES
    by_size: dict[tuple[int, str], dict[str, float]] = {}
    columns = [f"{budget_tokens:,} tokens" for budget_tokens in BUDGETS_TOKENS]
    for share in shares(sizes):
        for way in WAYS:
            cells = by_size.setdefault((share.size, way), {})
            cells[f"{share.budget_tokens:,} tokens"] = 100 * share.by_way[way]
    return Section(
        title="Does a lesson survive?",
        text=SURVIVAL_TEXT,
        columns=columns,
        rows=[
            counted(f"{size:,} records; {way}", cells, "%")
            for (size, way), cells in by_size.items()
        ],
        notes=SURVIVAL_NOTES,
    )


def ranking_section(plan: Plan) -> Section:
    """The order of records beside that of simpler rankers."""
    rows = [counted(name, figures) for name, figures in quality_rows()]
    return Section(
        title="Ranking: nDCG@10",
        text=RANKING_TEXT,
        columns=list(rows[0].cells),
        rows=rows,
    )


def speed_section(plan: Plan) -> Section:
    """How long a question takes."""

    def rows() -> Iterator[Row]:
        for row in speed_rows((1_000,)) if plan.rounds is QUICK else speed_rows():
            label = f"{row.count:,} {row.kind}, {'first question' if row.is_cold else 'again'}"
            yield counted(label, {"median": row.median, "95 in 100": row.worst}, "ms")

    return Section(
        title="Ranking: time of a question",
        text=SPEED_TEXT,
        columns=("median", "95 in 100"),
        rows=list(rows()),
    )
