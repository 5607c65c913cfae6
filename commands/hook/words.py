"""Every sentence that a hook says to people of its own failures, in English and Korean."""

from core.errors import SentinelError
from core.messages import Facts, Language, sentence

# fmt: off
WORDS: dict[str, tuple[str, str]] = {
    "usage": ("usage: {cli} hook EVENT --client CLIENT [--project DIR] [--lang en|ko]",
        "사용법: {cli} hook EVENT --client CLIENT [--project DIR] [--lang en|ko]"),
    "closed": ("standard input is closed", "표준 입력이 닫혀 있습니다"),
    "no_json": ("the input is no JSON", "입력이 JSON이 아닙니다"),
    "no_object": ("the input is no JSON object", "입력이 JSON 객체가 아닙니다"),
    "no_answer": ("no answer within {seconds} s", "{seconds}초 안에 답하지 못했습니다"),
    "slow": ("the memory log takes too long to read. Run {cli} doctor to see what is wrong.",
        "기억 로그를 읽는 데 너무 오래 걸립니다. {cli} doctor로 원인을 확인하세요."),
    "slow_record": ("the action takes too long to record, so it is left out. Run {cli} doctor to see what is wrong.",
        "작업을 기록하는 데 너무 오래 걸려 기록하지 않았습니다. {cli} doctor로 원인을 확인하세요."),
    "too_large": ("the memory log is too large to be read at every action",
        "기억 로그가 너무 커서 작업마다 읽을 수 없습니다"),
    "unusable": ("records too long for a hook, not shown: {count}",
        "훅에 담기에는 너무 길어 보여 주지 않은 기록: {count}건"),
}
# fmt: on


def said(error: Exception, lang: Language) -> str:
    """Return what a person reads of an error; of one of the system, only the words of that."""
    if isinstance(error, SentinelError):
        return error.text(lang)
    if not error.args or error.args[0] not in WORDS:
        return getattr(error, "strerror", None) or type(error).__name__
    facts: Facts = error.args[1] if len(error.args) > 1 else {}
    return sentence(WORDS, lang, error.args[0], **facts)
