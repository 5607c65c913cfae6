"""Says what a row of the tables of orders is, and holds the words that several tables share."""

from typing import NamedTuple

MARKS: tuple[str, ...] = ("override", "role", "tool-call", "hidden-text")
OVERRIDE, ROLE, TOOL_CALL, HIDDEN_TEXT = MARKS


class Rule(NamedTuple):
    """A pattern for lower-case text; tried where one of its hints (words, as blanks vary) occurs.

    In a pattern ` ` stands for the blanks and emphasis between two words, `·` for the same or
    nothing (Korean is spaced freely), and `‹` and `›` for the borders of an English word. What
    `unless` finds right before a place, up to its sentence's beginning, makes it innocent.
    """

    mark: str
    hints: tuple[str, ...]
    pattern: str
    unless: str = ""


# What is secret, and where a stranger would have it.
SECRETS = (
    r"(?:(?:contents? of|파일)[^\n]{0,12}\.env›|\.env›|‹api[\s_-]?keys›|credentials›|‹secrets›"
    r"|(?:private|ssh) keys?›|id_rsa|~/\.(?:ssh|aws)|environment variables|passwords›|‹tokens›"
    r"|(?:conversation|chat) (?:history|log)|api\s?키|환경\s?변수|비밀번호|자격\s?증명|개인\s?키"
    r"|대화\s?(?:내용|기록))"
)
THERE = (
    r"(?:https?://|[\w.+-]{1,40}@[\w-]{1,40}\.|(?:my|our|this|the following) (?:server|url|email"
    r"|address|endpoint|webhook))"
)

TOLD_HINTS = tuple(
    "instruction prompt directive guardrail programming message guideline"
    " 지시 지침 프롬프트 인스트럭션 가이드라인".split()
)

# Where a line begins, also a quoted or an indented one, and the sign behind who speaks.
LINE = r"(?:(?<![^\r\n])[ \t]{0,8}(?:[>*#-]{1,4}[ \t]{0,2}){0,2}\*{0,2})".replace(" ", r"\x20")
COLON = r"\*{0,2}\s?[:：]\*{0,2}"
