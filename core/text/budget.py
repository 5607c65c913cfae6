"""What an answer may still cost, in estimated tokens and in characters."""

from collections.abc import Iterable
from dataclasses import dataclass

from core.text.tokens import estimate_tokens


@dataclass(slots=True)
class Budget:
    """What is left of estimated tokens and of characters; each text also costs its line end."""

    tokens: float
    chars: int

    def take(self, text: str, text_tokens: float | None = None) -> bool:
        """Spend `text` if it fits; else spend nothing and return False.

        text_tokens: the estimate for the text, where it is known.
        """
        tokens = (estimate_tokens(text) if text_tokens is None else text_tokens) + 1
        chars = len(text) + 1
        if tokens > self.tokens or chars > self.chars:
            return False
        self.tokens -= tokens
        self.chars -= chars
        return True

    def spend(self, text: str) -> None:
        """Spend a text that is shown in any case."""
        self.tokens -= estimate_tokens(text) + 1
        self.chars -= len(text) + 1

    def take_all(self, texts: Iterable[tuple[str, int]]) -> bool:
        """Spend all texts if they fit together; else spend nothing and return False.

        texts: each with its estimated tokens.
        """
        trial = Budget(self.tokens, self.chars)
        if not all(trial.take(text, tokens) for text, tokens in texts):
            return False
        self.tokens, self.chars = trial.tokens, trial.chars
        return True

    @property
    def is_spent(self) -> bool:
        """Not even the shortest text of use would fit."""
        return self.tokens < 10 or self.chars < 30

    def split_off(self, share: float) -> "Budget":
        """Move this share into a budget of its own."""
        part = Budget(self.tokens * share, int(self.chars * share))
        self.tokens -= part.tokens
        self.chars -= part.chars
        return part

    def add(self, other: "Budget") -> None:
        """Get back what another budget did not spend."""
        self.tokens += other.tokens
        self.chars += other.chars
