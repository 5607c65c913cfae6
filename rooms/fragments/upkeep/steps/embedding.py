"""The step that makes the embeddings which are missing."""

from rooms.fragments.engine import Wanted, Writing
from rooms.fragments.services.errors import ServiceError
from rooms.fragments.upkeep.steps.step import At, Opening, Page, Step, Work


def _ask(opening: Opening, work: Work, at: At) -> bool:
    """Have them made, once it is known how many are missing; return whether that failed."""
    if not work.fill or not at.after:
        return False
    try:
        work.fill()
    except ServiceError:  # one that is off keeps no other step from its work
        return True
    return False


def _embeddings(writing: Writing, work: Work, at: At) -> Page:
    """Count first, then what was made. after: how many were missing before."""
    missing = sum(writing.count(Wanted(has_vector=False)).values())
    if not at.after:
        return Page({"missing": missing}, missing if missing and work.fill else None)
    return Page({"made": max(at.after - missing, 0), "failed": int(bool(at.asked))})


EMBEDDINGS_STEP = Step("embeddings", _embeddings, ("missing", "made", "failed"), ("made",), _ask)
