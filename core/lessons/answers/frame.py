"""What every answer depends on beside the log: whose it is, and its budget."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from core.settings import Settings
from core.text.budget import Budget


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What every answer depends on beside the log: whose it is, and what it may take.

    own_threshold: records above which this call asks for a compaction; None as the settings say.
    is_uncommitted: tells whether the log has changes that git has not committed. It costs a moment,
    so that only a compaction asks.
    """

    project: str
    settings: Settings
    own_threshold: int | None = None
    is_uncommitted: Callable[[], bool] = bool

    @property
    def threshold(self) -> int:
        """The records above which a compaction is required."""
        return self.settings.threshold if self.own_threshold is None else self.own_threshold

    @property
    def has_other_threshold(self) -> bool:
        """Whether this call speaks of another threshold than calls that name none."""
        return self.threshold != self.settings.threshold

    @property
    def budget(self) -> Budget:
        """The budget of one whole answer."""
        return Budget(self.settings.budget_tokens, self.settings.budget_chars)

    def halved(self) -> "Frame":
        """Return the same with half the budget, for the second part of an answer.

        The first has said already what git has not committed.
        """
        tokens, chars = self.settings.budget_tokens // 2, self.settings.budget_chars // 2
        settings = self.settings._replace(budget_tokens=tokens, budget_chars=chars)
        return replace(self, settings=settings, is_uncommitted=bool)
