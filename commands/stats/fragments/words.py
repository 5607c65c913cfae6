"""Holds the sentences of the statistics about fragments, in English and Korean."""

from functools import partial

from core.messages import sentence

# fmt: off
WORDS: dict[str, tuple[str, str]] = {
    "fragments": ("Fragments over all your projects: {count:,}", "모든 프로젝트의 조각: {count:,}개"),
    "kinds": ("By kind: {listed}.", "종류별: {listed}."),
    "tiers": ("By tier: {listed}.", "단계별: {listed}."),
    "agents": ("By agent: {listed}.", "에이전트별: {listed}."),
    "links": ("Links: {listed}.", "연결: {listed}."),
    "bin": ("In the bin: {listed}.", "휴지통: {listed}."),
    "use": ("Pinned: {pinned:,}. Recalled at least once: {used:,} of {count:,}; recalls in all: {uses:,}.",
        "고정: {pinned:,}개. 한 번 이상 회상한 조각: {count:,}개 중 {used:,}개. 회상 횟수: {uses:,}회."),
    "kept": ("Superseded: {superseded:,}. Earlier versions kept: {versions:,}. Gone from the bin for good: {purged:,}.",
        "대체된 조각: {superseded:,}개. 보관 중인 이전 버전: {versions:,}개. 휴지통에서 완전히 지운 조각: {purged:,}개."),
    "vectors": ("With an embedding of {model}: {count:,}.", "임베딩({model})이 있는 조각: {count:,}개."),
    "waiting": ("Pairs that may contradict each other: {suspicions:,}. Sessions without reflect: {sessions:,}.",
        "모순일 수 있는 쌍: {suspicions:,}개. reflect 없이 끝난 세션: {sessions:,}개."),
    "upkeep": ("Last upkeep: {day}.", "마지막 정리: {day}."),
    "no_upkeep": ("There was no upkeep yet; it runs once a day after a save.",
        "아직 정리한 적이 없습니다. 저장한 뒤 하루에 한 번 실행됩니다."),
    "unread": ("Without fragments: {reason}", "조각 없이 셉니다. {reason}"),
}
# fmt: on

word = partial(sentence, WORDS)
