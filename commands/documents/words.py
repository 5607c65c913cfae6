"""Holds the sentences of documents and of the files they go to, in English and Korean."""

from functools import partial

from core.messages import sentence

# fmt: off
WORDS: dict[str, tuple[str, str]] = {
    # a record
    "missing": ("What was missing", "빠진 정보"),
    "ask": ("Ask first", "먼저 물을 질문"),
    "paths": ("Files", "대상 파일"),
    "when": ("When you write", "이렇게 쓸 때"),
    "saved": ("saved {date}", "{date} 저장"),
    "compacted": ("compacted {date}", "{date} 통합"),
    # what is left out or replaced
    "redacted": ("Secrets redacted in the export: {count:,} ({kinds}). They are still in the memory. Run {cli} scan to see where, and {cli} scan --redact to remove them.",
        "내보내면서 마스킹한 비밀 값 {count:,}개({kinds}). 기억에는 그대로 남아 있습니다. {cli} scan으로 위치를 확인하고 {cli} scan --redact로 지우세요."),
    "conflicts": ("The memory log contains git conflict markers (conflicts: {conflicts:,}); the records of both sides are exported. Run {cli} doctor --fix to resolve the conflict, then git add the file.",
        "기억 로그에 git 충돌 표시가 있습니다(충돌 {conflicts:,}건). 양쪽 기록을 모두 내보냅니다. {cli} doctor --fix로 충돌을 해결한 뒤 git add를 실행하세요."),
    "skipped": ("Unreadable lines of the memory log, not exported: {skipped:,}. Run {cli} doctor to see them.",
        "읽을 수 없어 내보내지 않는 기억 로그의 줄 {skipped:,}개. {cli} doctor로 볼 수 있습니다."),
    # refusals
    "no_topic": ("No record has exactly the topic {topic}. Nothing was written. Existing topics, the closest first: {topics}.",
        "topic이 정확히 {topic}인 기록이 없습니다. 아무것도 쓰지 않았습니다. 있는 topic(가까운 순): {topics}."),
    "exists": ("{path} already exists and was left unchanged. Choose another name, or replace it with --force.",
        "{path} 파일이 이미 있어 그대로 두었습니다. 다른 이름을 쓰거나 --force로 바꾸세요."),
    "leads_out": ("{path} leaves the project through the link {link}, which points to {target}. Nothing was read or written there. If you mean that place, give its real path; otherwise remove the link ({rm}).",
        "{path}은(는) {link} 링크를 지나 프로젝트 밖의 {target}(으)로 나갑니다. 그곳에서는 아무것도 읽거나 쓰지 않았습니다. 그곳을 뜻한 것이라면 실제 경로로 적고, 아니면 링크를 지우세요({rm})."),
    "file_read": ("{path} cannot be read ({reason}). It was left unchanged. Make it a readable file, then repeat the command.",
        "{path} 파일을 읽을 수 없습니다({reason}). 그대로 두었습니다. 읽을 수 있는 파일로 만든 뒤 다시 실행하세요."),
    "file_write": ("{path} could not be written ({reason}). It is unchanged. Make the file and its directory writable, then repeat the command.",
        "{path} 파일에 쓸 수 없습니다({reason}). 이전 상태 그대로입니다. 파일과 디렉터리에 쓸 수 있게 한 뒤 다시 실행하세요."),
    "file_changed": ("Another program changed {path} in the meantime, so it was left unchanged. Repeat the command.",
        "그 사이 다른 프로그램이 {path} 파일을 바꾸어 그대로 두었습니다. 다시 실행하세요."),
    "not_utf_8": ("{path} is not UTF-8 text and was left unchanged. Save it as UTF-8, then repeat the command.",
        "{path} 파일이 UTF-8 텍스트가 아니어서 그대로 두었습니다. UTF-8로 저장한 뒤 다시 실행하세요."),
}
# fmt: on

word = partial(sentence, WORDS)
