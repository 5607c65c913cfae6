"""What every answer depends on beside the log: whose it is, its budget, and its language."""

from dataclasses import dataclass, replace

from core.messages import Language
from core.settings import Settings
from core.text.budget import Budget


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What every answer depends on beside the log: whose it is, and how it is said.

    own_threshold: records above which this call asks for a compaction; None as the settings say.
    """

    project: str
    settings: Settings
    own_threshold: int | None = None

    @property
    def threshold(self) -> int:
        """The records above which a compaction is required."""
        return self.settings.threshold if self.own_threshold is None else self.own_threshold

    @property
    def has_other_threshold(self) -> bool:
        """Whether this call speaks of another threshold than calls that name none."""
        return self.threshold != self.settings.threshold

    @property
    def lang(self) -> Language:
        """The language of the sentences."""
        return self.settings.lang

    @property
    def budget(self) -> Budget:
        """The budget of one whole answer."""
        return Budget(self.settings.budget_tokens, self.settings.budget_chars)

    def halved(self) -> "Frame":
        """Return the same with half the budget, for an answer in two parts."""
        tokens, chars = self.settings.budget_tokens // 2, self.settings.budget_chars // 2
        settings = replace(self.settings, budget_tokens=tokens, budget_chars=chars)
        return replace(self, settings=settings)
