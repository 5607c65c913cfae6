"""Chooses the records that an action needs: the few whose files, commands and words are its own.

Pure, lexical and deterministic. An irrelevant reminder trains the model to ignore all reminders, so
silence is the rule: a record must gather evidence worth a threshold, and evidence is worth the
more, the rarer it is in the project. The weights were chosen on the labelled actions of
`benchmarks/recall.py`, which also says how often they are right. What this cannot do: synonyms,
translations, and rules about what code does rather than what it is called.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from core.lessons.recall.candidates import Candidate, Sought
from core.lessons.recall.evidence import Evidence, Rarity
from core.lessons.recall.rarity import Surroundings
from core.lessons.recall.reading import Action, Reading
from core.lessons.record import Record
from core.lessons.selection import is_harmless, is_usable

MOST_RECORDS = 4  # of which those that only words speak for are three at most
_MOST_BY_WORDS = 3

# What a record must reach. The words of a command say less, since many lessons name commands.
_NEEDED, _NEEDED_IN_A_SHELL = 3.5, 5.6
_BESIDE_THE_BEST = 0.7  # of the best record's evidence; less is only noise beside it


class Choice(NamedTuple):
    """The records that an action needs, and the words that it shares with the log."""

    records: Sequence[Record] = ()
    words: Collection[str] = ()


def choose(
    action: Action,
    records: Sequence[Record],
    count: int | None = None,
    having: Mapping[str, int] | None = None,
    surroundings: Surroundings | None = None,
) -> Choice:
    """Return at most MOST_RECORDS of these records, the best first; of equals the newer first.

    Nearly always none. Any text is allowed on both sides; a record that is not usable, or reads
    like an order to a model, is passed over. count, having: as in AtHand, when these are not all
    records of the log. surroundings: what is common in the project, as far as it is known.
    """
    action = action.readable()
    sources = list(_sources(action))
    if not sources:
        return Choice()
    sought = Sought.of(action, [reading for _, reading in sources])
    candidates = [Candidate(record, sought) for record in records if is_usable(record)]
    rarity = Rarity(candidates, count or len(records), having or {}, surroundings or Surroundings())
    evidence = Evidence(action, sources, sought, rarity)
    needed = _NEEDED_IN_A_SHELL if action.command and not action.paths else _NEEDED
    found = [
        (weight, at)
        for at, candidate in enumerate(candidates)
        if (weight := evidence.of(candidate)) >= needed
    ]
    found.sort(reverse=True)
    words = {word for it in candidates for word in it.shared}
    return Choice(_places(found, candidates), words)


def _places(
    found: Sequence[tuple[float, int]], candidates: Sequence[Candidate]
) -> Sequence[Record]:
    """Return the records that are shown, of those that weigh enough, the heaviest first."""
    by_words, least, chosen = 0, 0.0, list[Record]()
    for weight, at in found:
        record, is_sure = candidates[at].record, candidates[at].is_sure
        if len(chosen) == MOST_RECORDS or not (is_sure or by_words < _MOST_BY_WORDS):
            continue
        if (is_sure or weight >= least) and is_harmless(record):
            by_words += not is_sure
            least = least or _BESIDE_THE_BEST * weight
            chosen.append(record)
    return chosen


def _sources(action: Action) -> Iterator[tuple[str, Reading]]:
    """Yield what an action says, the surest first: a word counts where it stands first."""
    for name, text in (
        ("path", "\n".join(action.paths)),
        ("command", action.command),
        ("text", action.telling),
    ):
        if text.strip():
            yield name, Reading(text)
