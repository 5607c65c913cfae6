"""Holds the sentences of the fragments on the page, in English and Korean."""

from functools import partial

from core.messages import sentence
from core.program import NAME

# fmt: off
WORDS: dict[str, tuple[str, str]] = {
    # the section
    "fragments": ("Fragments", "조각"),
    "of_fragments": ("fragments", "조각"),
    "about_own": ("What your agents know over all your projects. It is yours, not the project's: a page written with `-o` leaves it out, unless `--fragments` asks for it.",
        "에이전트가 모든 프로젝트에서 알게 된 것입니다. 프로젝트의 것이 아니라 사용자의 것이므로, `-o`로 쓴 페이지에는 `--fragments`로 요청해야 들어갑니다."),
    "about_all": ("All your fragments, from all your projects, were written to this file with `--fragments all`, the private ones as well. Pass it on only to people who may read them.",
        "이 파일에는 `--fragments all`에 따라 모든 프로젝트의 조각이 비공개 조각까지 들어 있습니다. 읽어도 되는 사람에게만 전달하세요."),
    "about_public": ("The fragments that are marked as public, from all your projects. Private ones are not in this file.",
        "모든 프로젝트의 조각 가운데 공개로 표시한 것입니다. 비공개 조각은 이 파일에 없습니다."),
    "left_out": ("Fragments shown here: {shown:,} of {count:,}, the newest and those that matter most. {cli} fragments list names the others.",
        "조각 {count:,}개 가운데 최신이거나 중요한 {shown:,}개를 보여 줍니다. 나머지는 {cli} fragments list로 볼 수 있습니다."),
    # groups and filters
    "kind_fragment": ("All fragments", "모든 조각"),
    "group_preference": ("Preferences", "선호"),
    "group_procedure": ("Procedures", "절차"),
    "group_error": ("Errors", "오류"),
    "group_decision": ("Decisions", "결정"),
    "group_fact": ("Facts", "사실"),
    "group_relation": ("Relations", "관계"),
    "group_pinned": ("Pinned", "고정된 조각"),
    "group_superseded": ("No longer recalled", "회상하지 않는 조각"),
    "kind_linked": ("With links", "연결된 조각"),
    "kind_public": ("Public", "공개 조각"),
    "kind_suspect": ("Suspicious fragments", "의심스러운 조각"),
    # a fragment
    "fragment": ("Fragment", "조각"),
    "preference": ("preference", "선호"),
    "procedure": ("procedure", "절차"),
    "error": ("error", "오류"),
    "decision": ("decision", "결정"),
    "fact": ("fact", "사실"),
    "relation": ("relation", "관계"),
    "pinned": ("pinned", "고정"),
    "public": ("public", "공개"),
    "team": ("for the team", "팀 공유"),
    "working": ("for one session", "세션 동안만"),
    "promoted": ("No longer recalled since {date}: it is a lesson of a memory log, record {record}.",
        "{date}부터 회상하지 않습니다. 기억 로그의 교훈(기록 {record})이 되었습니다."),
    "superseded": ("No longer recalled since {date}: another fragment has its place.",
        "{date}부터 회상되지 않습니다. 다른 조각이 대신합니다."),
    "superseded_by_these": ("Superseded on {date} by", "{date}에 이것으로 대체됨:"),
    "importance": ("importance", "중요도"),
    "tier": ("tier {tier}", "{tier} 단계"),
    "never_used": ("never recalled", "회상한 적 없음"),
    "used_once": ("recalled once, {date}", "{date}에 1회 회상"),
    "used": ("recalled {count:,} times, last {date}", "{count:,}회 회상, 마지막 {date}"),
    "expires": ("until {date}", "{date}까지"),
    "source": ("source", "출처"),
    "keywords": ("Keywords", "키워드"),
    "more_links": ("and {count:,} more", "외 {count:,}개"),
    "versions": ("Earlier versions: {count:,}", "이전 버전 {count:,}개"),
    "version": ("until {date}", "{date}까지"),
    "amended_by": ("changed by", "고친 에이전트"),
    "earlier_versions": ("Still earlier ones, not shown: {count:,}", "더 앞의 버전 {count:,}개는 여기에 없습니다."),
    # links, from the fragment and to it
    "to_related": ("related to", "관련"),
    "to_caused_by": ("caused by", "원인"),
    "to_resolved_by": ("resolved by", "해결책"),
    "to_part_of": ("part of", "상위"),
    "to_contradicts": ("contradicts", "모순"),
    "to_superseded_by": ("superseded by", "대체한 조각"),
    "from_related": ("related to", "관련"),
    "from_caused_by": ("causes", "결과"),
    "from_resolved_by": ("resolves", "해결한 문제"),
    "from_part_of": ("contains", "하위"),
    "from_contradicts": ("contradicts", "모순"),
    "from_superseded_by": ("supersedes", "대체된 조각"),
    # what the command says
    "unread": ("Without fragments: {reason}", "조각 없이 만듭니다. {reason}"),
}
# fmt: on

word = partial(sentence, WORDS, cli=NAME)
