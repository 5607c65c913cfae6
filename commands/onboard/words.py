"""Holds the sentences of the page for a new team member, in English and Korean."""

from functools import partial

from core.messages import sentence
from core.program import NAME

# fmt: off
WORDS: dict[str, tuple[str, str]] = {
    # the head
    "title": ("{project}: what to know before you start", "{project}: 시작하기 전에 알아 둘 것"),
    "is": ("What agents and people learned here the hard way (what nobody knew → what to do), chosen from `.context/memory_log.jsonl`, the project's Sentinel-Memory (records: {count:,}{when}).",
        "에이전트와 사람이 이 프로젝트에서 겪고 나서야 알게 된 것(몰랐던 것 → 할 일)을 프로젝트의 Sentinel-Memory인 `.context/memory_log.jsonl`에서 골랐습니다(기록 {count:,}건{when})."),
    "days": (", {first} to {last}", ", {first}부터 {last}까지"),
    "day": (", all of {first}", ", 모두 {first}"),
    "only": ("Only these topics: {topics}.", "고른 topic: {topics}."),
    "is_not": ("This is not a manual: it does not explain how the project works, and some of it may be out of date. Run `{cli} view` for the whole memory, or `{cli} list` in a terminal.",
        "사용 설명서가 아닙니다. 프로젝트의 동작 방식은 설명하지 않으며, 지금은 맞지 않는 내용도 있을 수 있습니다. 전체는 `{cli} view`로, 터미널에서는 `{cli} list`로 볼 수 있습니다."),
    # the sections
    "again": ("What keeps coming back", "자꾸 재발하는 문제"),
    "by_topic": ("Lessons by topic", "topic별 교훈"),
    "ask": ("Ask before you start", "시작하기 전에 물을 것"),
    "newest": ("Newest lessons", "최근 교훈"),
    # what stands in parentheses behind a topic
    "merged": ("principle, records merged: {count:,}", "principle, 통합한 기록 {count:,}건"),
    # the foot
    "lessons": ("Lessons here: {shown:,} of {count:,}. Run `{cli} list --topic T` for the others ({topics}).",
        "여기 담은 교훈은 {count:,}건 가운데 {shown:,}건입니다. 나머지는 `{cli} list --topic T`로 볼 수 있습니다({topics})."),
    "questions": ("Questions here: {shown:,} of {count:,}. Run `{cli} list --questions` for the others.",
        "여기 담은 질문은 {count:,}건 가운데 {shown:,}건입니다. 나머지는 `{cli} list --questions`로 볼 수 있습니다."),
    "marked": ("Left out, because they read like instructions to a model: {count:,} (run `{cli} scan` to see them).",
        "모델에 내리는 지시처럼 읽혀 뺀 기록 {count:,}건(`{cli} scan`으로 확인)."),
    "empty": ("The memory of this project has no records yet. This page fills by itself: whenever an agent finds out what its instructions left out, it saves the lesson (`log_memory`). `{cli} setup --all` connects your clients, and `{cli} demo` shows how it works.",
        "이 프로젝트의 기억에는 아직 기록이 없습니다. 에이전트가 지시에 빠져 있던 것을 알게 될 때마다 교훈을 저장하므로(`log_memory`) 이 페이지도 저절로 채워집니다. `{cli} setup --all`로 클라이언트를 연결하고, `{cli} demo`로 과정을 미리 볼 수 있습니다."),
    # what the command says
    "too_short": ("a page needs {least:,} characters or more",
        "한 페이지에는 {least:,}자 이상이 필요합니다"),
}
# fmt: on

word = partial(sentence, WORDS, cli=NAME)
