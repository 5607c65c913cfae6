"""Holds the sentences of the demo, in English and Korean."""

from functools import partial

from core.messages import sentence

# fmt: off
WORDS: dict[str, tuple[str, str]] = {
    # headings
    "empty": ("1. Before the first task: a new project has no memory, so a search returns questions.",
        "1. 첫 작업 전: 새 프로젝트에는 기억이 없으므로, 검색하면 물어볼 질문이 나옵니다."),
    "first": ("2. After a task: the agent logs its gaps. Then somebody searches in Korean: {query}",
        "2. 작업 후: 빠져 있던 것을 기록합니다. 그다음 한국어로 검색합니다: {query}"),
    "again": ("3. The same gap again, with a sharper lesson: the server updates and counts the record and does not write it twice.",
        "3. 나중 작업에서 같은 정보가 또 빠짐(재발): 두 번 적지 않고 횟수를 올립니다."),
    "secret": ("4. A lesson with a secret in it (an access token of {chars} characters, made up just now), then one whose missing_context is blank.",
        "4. 비밀 값(방금 지어낸 {chars}자 토큰)이 든 lesson, 이어서 missing_context가 빈 것."),
    "fill": ("5. Weeks later: agents have logged all other lessons, past the threshold of {threshold}.",
        "5. 몇 주 뒤: 나머지 lesson을 모두 기록해 기준 {threshold}건을 넘깁니다."),
    "offer": ("6. compact_memory offers what to merge: similar topics with reasons, groups with tokens.",
        "6. compact_memory가 합칠 것을 보여 줍니다: 비슷한 topic과 이유, 묶음과 토큰."),
    "compact": ("7. Compaction. An agent would judge which topics are one and write each principle. This demo has no language model: it merges the topics that share words or contain one another, and joins the first sentence of each lesson up to {limit:,} bytes.",
        "7. 통합. 원래는 에이전트가 합칠 topic을 판단하고 principle을 씁니다. 이 데모에는 언어 모델이 없으므로, 단어를 공유하거나 서로 포함하는 topic을 합치고, 각 lesson의 첫 문장을 {limit:,}바이트까지 기계적으로 이어 붙입니다."),
    "after": ("8. What is left. The client sends the last save a second time, as after a lost answer; then the search of scene 2 again.",
        "8. 남은 것. 응답을 못 받은 경우처럼 마지막 저장을 한 번 더 보내고, 2번 장면의 검색을 다시 합니다."),
    "diff": ("9. What a colleague sees in the pull request: the diff of one text file.",
        "9. 동료가 풀 리퀘스트에서 보는 것: 텍스트 파일 하나의 diff입니다."),
    # what was checked
    "empty_ok": ("three questions, and no file was made", "질문 3개, 파일은 만들지 않음"),
    "first_ok": ("all {count} lessons came back whole; a query never hides any",
        "lesson {count}개가 모두 그대로 돌아옴. 검색어 때문에 숨겨지는 것은 없음"),
    "sharper": ("In doubt, ask whoever owns it.", "확실하지 않으면 담당자에게 묻는다."),
    "again_ok": ("still {count} records in the file, this one seen 2 times",
        "파일에는 여전히 {count}건, 이 기록은 2회 발생"),
    "secret_ok": ("the secret is not in the file and not in the answer",
        "비밀 값은 파일에도 응답에도 없음"),
    "refused_ok": ("refused; the file is unchanged, byte for byte",
        "거부됨. 파일은 바이트까지 그대로"),
    "fill_ok": ("the notice came with record {at}, not before; now {count} records",
        "{at}번째 기록에서 처음 알림. 지금은 {count}건"),
    "offer_ok": ("{shown} tokens for {count} records, {pairs} pairs to merge; the file is unchanged",
        "기록 {count}건에 토큰 {shown}개, 합칠 topic {pairs}쌍. 파일은 그대로"),
    "compact_ok": ("{count} saves, each of which also removed its originals; only principles are left",
        "저장 {count}번, 그때마다 원본도 함께 지워짐. principle만 남음"),
    "after_ok": ("{before} records before, {count} now; none of the originals is left",
        "이전 {before}건, 지금 {count}건. 남은 원본 없음"),
    "retry_ok": ("the second save of the same words changed nothing",
        "같은 내용의 두 번째 저장으로 바뀐 것 없음"),
    "found_ok": ("the search returns every principle", "검색하면 모든 principle이 나옴"),
    "diff_ok": ("{before:,} bytes before, {after:,} after; git still has what was removed",
        "이전 {before:,}바이트, 이후 {after:,}바이트. 지워진 것은 git 이력에 남음"),
    "diff_no_git_ok": ("{before:,} bytes before, {after:,} after (git was not found; the demo made this diff itself)",
        "이전 {before:,}바이트, 이후 {after:,}바이트(git이 없어 직접 비교함)"),
    # the rest
    "secret_stored": ("  The lesson in the file:", "  파일에 적힌 lesson:"),
    "compact_row": ("  {topics}: {count} merged into one principle, {left_out} left out",
        "  {topics}: 원본 {count}건을 principle 하나로, 빠진 lesson {left_out}건"),
    "kept": ("The scratch project is kept in {path}", "연습용 프로젝트를 남긴 곳: {path}"),
    "not_empty": ("{path} is not an empty directory. Nothing was written. Name a new one with --keep.",
        "{path}은(는) 빈 디렉터리가 아닙니다. 아무것도 쓰지 않았습니다. --keep에 새 디렉터리를 지정하세요."),
    "failed": ("The demo stopped: {reason}", "데모 중단: {reason}"),
    "did_not_hold": ("this did not hold: {claim}", "다음이 사실이 아니었습니다: {claim}"),
}
# fmt: on

word = partial(sentence, WORDS)
