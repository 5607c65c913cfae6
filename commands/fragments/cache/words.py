"""Holds the sentences on what is remembered beside the fragments, in English and Korean."""

from functools import partial

from core.messages import sentence

# fmt: off
WORDS: dict[str, tuple[str, str]] = {
    "off": ("Nothing is remembered beside the fragments: for a team's fragments on PostgreSQL, SENTINEL_MEMORY_REDIS=redis://host:6379/0 switches it on.",
        "조각 곁에 따로 기억해 두는 것이 없습니다. PostgreSQL에 있는 팀의 조각이라면 SENTINEL_MEMORY_REDIS=redis://host:6379/0으로 켤 수 있습니다."),
    "away": ("{name} does not answer. Recalls go on without it, and nothing is lost. Check whether it runs and the password holds, then: `{cli} fragments cache`",
        "{name}이(가) 답하지 않습니다. 회상은 Redis 없이 계속되고, 잃은 것은 없습니다. 서버가 돌고 있는지, 비밀번호가 맞는지 확인한 뒤 다시 실행하세요: `{cli} fragments cache`"),
    "no_package": ("The package redis is not installed here. Recalls go on without it, and nothing is lost. Install it: `pip install \"redis>=5.2,<9\"`",
        "여기에 redis 패키지가 설치되어 있지 않습니다. 회상은 Redis 없이 계속되고, 잃은 것은 없습니다. 설치하세요: `pip install \"redis>=5.2,<9\"`"),
    "reached": ("{name} answers.", "{name}이(가) 답합니다."),
    "kept": ("Answers remembered: {answers:,}. Agents whose keywords are remembered: {sets:,}.",
        "기억해 둔 답 {answers:,}개, 키워드를 기억해 둔 에이전트 {sets:,}명."),
    "figures": ("Questions answered from there: {hits:,}; not there: {misses:,}.", "그중에서 답한 질문 {hits:,}개, 거기에 없던 질문 {misses:,}개."),
    "rebuilt": ("Agents whose keywords were remembered anew: {made:,}; right already: {current:,}.",
        "키워드를 다시 기억해 둔 에이전트 {made:,}명, 이미 맞던 에이전트 {current:,}명."),
    "failed": ("{name} does not take all of it: agents left out: {failed:,}. Recalls go on without it, and nothing is lost. Check its memory, then: `{cli} fragments cache rebuild`",
        "{name}이(가) 다 받지 않아 에이전트 {failed:,}명이 빠졌습니다. 회상은 Redis 없이 계속되고, 잃은 것은 없습니다. 서버의 메모리를 확인한 뒤 다시 실행하세요: `{cli} fragments cache rebuild`"),
    "rebuilding": ("Agent {done:,} of {count:,}", "에이전트 {count:,}명 중 {done:,}번째"),
    "cleared": ("Keys removed: {count:,}. The fragments are unchanged.", "지운 키 {count:,}개. 조각은 그대로입니다."),
}
# fmt: on

word = partial(sentence, WORDS)
