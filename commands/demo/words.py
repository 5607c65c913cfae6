"""Holds the sentences of the demo, in English and Korean."""

from functools import partial

from core.messages import sentence

# fmt: off
WORDS: dict[str, tuple[str, str]] = {
    "story": ("Watch one agent's mistake become a lesson that stops the next agent.",
        "한 에이전트의 실수가 다음 에이전트의 실수를 막는 교훈이 됩니다."),
    "story_is_real": ("The agents follow a script; every line behind a bar is what really came back.",
        "에이전트의 행동은 대본이고, 막대(|) 뒤의 줄은 프로그램의 실제 출력입니다."),
    "story_place": ("A scratch project, removed at the end: {path}",
        "끝나면 지우는 연습용 프로젝트: {path}"),
    "story_kept_place": ("A scratch project: {path}", "연습용 프로젝트: {path}"),
    "story_monday": ("Monday. An agent drops a column, and the shop fails until a person steps in. The agent saves what nobody had told it, with log_memory:",
        "월요일. 에이전트가 컬럼을 지우자 쇼핑몰이 멈추고, 담당자가 바로잡습니다. 에이전트는 아무도 알려 주지 않았던 것을 log_memory로 저장합니다:"),
    "story_tuesday": ("Tuesday. Another agent is about to write {file}:",
        "화요일. 다른 에이전트가 {file} 파일을 쓰려고 합니다:"),
    "story_hook": ("Before the file is written, the hook tells it:",
        "파일을 쓰기 전에 훅이 알려 줍니다:"),
    "story_pull_request": ("The pull request. A colleague reads what was learned ({cli} report):",
        "풀 리퀘스트. 동료는 무엇을 배웠는지 읽습니다({cli} report):"),
    "story_no_git": ("The pull request. A colleague reads what was learned, in the diff of a text file:",
        "풀 리퀘스트. 동료는 텍스트 파일 하나의 diff에서 무엇을 배웠는지 읽습니다:"),
    "story_next": ("Next, for a project of yours: {cli} setup --all --project DIR",
        "이제 내 프로젝트에 설정하세요: {cli} setup --all --project DIR"),
    "story_next_uvx": ("Next, install it: uv tool install, with what you gave to --from. Then, in a project of yours: {cli} setup --all",
        "이제 설치하세요. uvx의 --from에 준 것을 uv tool install에 주면 됩니다. 그다음 내 프로젝트에서 실행하세요: {cli} setup --all"),
    "more_lines": ("… ({count} more lines)", "… (이 밖에 {count}줄)"),
    "kept": ("The scratch project is kept in {path}", "연습용 프로젝트를 남긴 곳: {path}"),
    "not_empty": ("{path} is not an empty directory. Nothing was written. Name a new one with --keep.",
        "{path}은(는) 빈 디렉터리가 아닙니다. 아무것도 쓰지 않았습니다. --keep에 새 디렉터리를 지정하세요."),
    "failed": ("The demo stopped: {reason}", "데모 중단: {reason}"),
}
# What the agent saves in the story.
STORY: dict[str, tuple[str, str]] = {
    "topic": ("db-migration", "db-migration"),
    "missing_context": ("While a deploy runs, old servers still read the column.",
        "배포하는 동안 이전 버전 서버는 그 컬럼을 계속 읽는다."),
    "lesson": ("Drop a column in two releases: stop reading it first.",
        "컬럼은 두 번에 나누어, 읽는 코드부터 빼고 지운다."),
    "ask_next_time": ("Is the release that no longer reads it deployed?",
        "그 컬럼을 읽지 않는 버전이 이미 배포되었나요?"),
}
# fmt: on

word = partial(sentence, WORDS)
