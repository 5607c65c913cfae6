"""Holds the sentences of the import of fragments, in English and Korean."""

from functools import partial

from core.messages import sentence

# fmt: off
WORDS: dict[str, tuple[str, str]] = {
    # the preview
    "head": ("Import of fragments from {path} ({form}). To save: {count:,}.", "{path}({form})에서 조각을 가져옵니다. 저장할 조각: {count:,}개."),
    "export": ("an export of this program", "이 프로그램의 내보내기 파일"),
    "memory_db": ("a memory.db with memory_item", "memory_item이 있는 memory.db"),
    "dump": ("rows of fragments", "조각의 행"),
    "server_memory": ("server-memory", "server-memory 파일"),
    "date": ("saved", "저장일"),
    "kind": ("kind", "종류"),
    "fragment": ("fragment", "조각"),
    "more_rows": ("… {more:,} more", "… 이 밖에 {more:,}개"),
    "links": ("New links between fragments: {count:,}.", "새로 생기는 연결: {count:,}개."),
    "entries": ("New former versions, feedback and notes on sessions: {count:,}.", "새로 들어오는 이전 버전, 평가, 세션 기록: {count:,}개."),
    "known": ("Already here, by id or by what they say: {count:,}.", "id나 내용이 같아 이미 있는 조각: {count:,}개."),
    "other": ("Here with the same id and another text, which stays: {count:,}.", "id는 같고 내용이 달라 여기 것을 그대로 두는 조각: {count:,}개."),
    "in_bin": ("In the bin here, from which `{cli} fragments restore ID` takes them: {count:,}.",
        "여기 휴지통에 있는 조각: {count:,}개. `{cli} fragments restore ID`로 꺼낼 수 있습니다."),
    "shortened": ("Topics, keywords or names above their limits, which are shortened: {count:,}.",
        "상한을 넘어 줄이는 주제, 키워드, 이름: {count:,}개."),
    "redacts": ("Secrets that are redacted: {count:,} ({kinds}).", "마스킹하는 비밀 값: {count:,}개({kinds})."),
    "passed": ("Left out:", "빠지는 것:"),
    "lines": ("lines {places}", "{places}번째 줄"),
    "rows": ("rows {places}", "{places}번째 행"),
    "passed_not_json": ("{count:,}: not readable as JSON", "{count:,}개: JSON으로 읽을 수 없음"),
    "passed_not_a_fragment": ("{count:,}: not a fragment", "{count:,}개: 조각이 아님"),
    "passed_blank": ("{count:,}: without a text", "{count:,}개: 내용이 없음"),
    "passed_too_large": ("{count:,}: longer than 1,024 bytes; save each as several fragments", "{count:,}개: 1,024바이트보다 긺, 여러 조각으로 나눌 것"),
    "passed_too_long": ("{count:,}: a label above its limit", "{count:,}개: 상한을 넘는 이름"),
    "passed_too_many": ("{count:,}: too many keywords", "{count:,}개: 키워드가 너무 많음"),
    "passed_bad_type": ("{count:,}: of an unknown type", "{count:,}개: 알 수 없는 종류"),
    "passed_lone_surrogate": ("{count:,}: with half of a character", "{count:,}개: 깨진 글자가 있음"),
    "passed_expired": ("{count:,}: expired by now", "{count:,}개: 이미 만료됨"),
    "passed_no_end": ("{count:,}: links or versions of fragments that are neither here nor in the file",
        "{count:,}개: 여기에도 파일에도 없는 조각의 연결이나 버전"),
    "passed_secret_refused": ("{count:,}: they seem to contain secrets, and SENTINEL_MEMORY_STRICT refuses such fragments",
        "{count:,}개: 비밀 값이 있는 듯하며, SENTINEL_MEMORY_STRICT 설정이 이런 조각을 거부함"),
    # while it is at work
    "reading": ("Checked {done:,} of {count:,}", "{count:,}개 중 {done:,}개 확인"),
    "saving": ("Saved {done:,} of {count:,}", "{count:,}개 중 {done:,}개 저장"),
    # the end
    "nothing": ("Nothing to save.", "저장할 것이 없습니다."),
    "ask": ("Save? [y/N] ", "저장할까요? [y/N] "),
    "not_changed": ("Nothing was saved.", "아무것도 저장하지 않았습니다."),
    "no_terminal": ("Nothing was saved: there is no terminal to confirm on. Review the list above, then repeat the command with --yes.",
        "확인을 받을 터미널이 없어 아무것도 저장하지 않았습니다. 위 목록을 확인한 뒤 --yes를 붙여 다시 실행하세요."),
    "dry": ("Nothing was saved (--dry-run).", "아무것도 저장하지 않았습니다(--dry-run)."),
    "saved": ("Saved: {count:,}. {cli} fragments lists them.", "{count:,}개를 저장했습니다. {cli} fragments로 볼 수 있습니다."),
    "switch_on": ("To have agents use them: `{cli} setup --all --rooms {rooms}`", "에이전트가 쓰게 하려면: `{cli} setup --all --rooms {rooms}`"),
    "embed": ("To find them by meaning, too: `{cli} fragments embed`", "뜻으로도 찾으려면: `{cli} fragments embed`"),
}
# fmt: on

word = partial(sentence, WORDS)
