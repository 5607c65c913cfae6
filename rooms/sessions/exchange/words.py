"""Holds what exported documents say, and the sentences of the export and the import."""

from collections.abc import Callable
from functools import partial

from core.messages import Table, sentence

# fmt: off
WORDS: Table = {
    # a document
    "title": ("Sessions of {project}", "{project}의 세션"),
    "intro": ("Sessions: {count:,}. Exported {date}.", "세션 {count:,}개. {date}에 내보냄."),
    "none": ("No session fits.", "해당하는 세션이 없습니다."),
    "left_out": ("Sessions left out, because they do not fit into one answer: {count:,}. Give output a file in the project, such as sessions.{suffix}, to get all of them, or narrow the range.",
        "한 번의 답에 담을 수 없어 뺀 세션: {count:,}개. output에 sessions.{suffix} 같은 프로젝트 안의 파일을 지정하면 모두 받을 수 있습니다. 기간을 좁혀도 됩니다."),
    "started": ("started {date}", "{date} 시작"),
    "saved": ("saved {date}", "{date} 저장"),
    "continues": ("continues {name}", "{name}에서 이어짐"),
    "decisions": ("Decisions", "결정"),
    "approaches": ("Approaches", "시도"),
    "blockers": ("Blockers", "막힌 일"),
    "changes": ("Changed files", "바꾼 파일"),
    "actions": ("Actions", "실행 기록"),
    "why": ("why", "이유"),
    "reason": ("reason", "이유"),
    "resolution": ("solution", "해결 방법"),
    "success": ("worked", "성공"),
    "failed": ("failed", "실패"),
    "partial": ("worked in part", "일부 성공"),
    "open": ("open", "미해결"),
    "resolved": ("resolved", "해결"),
    "command": ("command", "명령"),
    "edit": ("edit", "편집"),
    "error": ("error", "오류"),
    "lesson": ("lesson", "교훈"),
    "followed": ("followed", "따름"),
    "shown": ("shown, not followed so far", "보았지만 아직 따르지 않음"),
    # where a document may be written
    "output_name": ("{path}: a file for an export as {form} ends with {suffixes}. Nothing was written. Choose such a name.",
        "{path}: {form} 형식의 파일 이름은 {suffixes}(으)로 끝나야 합니다. 아무것도 쓰지 않았습니다. 그런 이름으로 다시 지정하세요."),
    "output_outside": ("{path} does not lie in the project. Nothing was written. Name a file inside it, such as docs/sessions.{suffix}.",
        "{path}은(는) 프로젝트 안에 있지 않습니다. 아무것도 쓰지 않았습니다. docs/sessions.{suffix}처럼 프로젝트 안의 파일을 지정하세요."),
    "output_reserved": ("{path} lies where git, clients or the memory keep files of their own. Nothing was written. Choose another place, such as docs/sessions.{suffix}.",
        "{path}은(는) git이나 클라이언트, 기억이 자기 파일을 두는 자리입니다. 아무것도 쓰지 않았습니다. docs/sessions.{suffix}처럼 다른 곳을 지정하세요."),
    "output_exists": ("{path} is there already and is no earlier export of sessions. It is unchanged. Choose another name, or remove that file first.",
        "{path} 파일이 이미 있는데 전에 내보낸 세션 파일이 아닙니다. 그 파일은 그대로입니다. 다른 이름을 지정하거나 그 파일을 먼저 지우세요."),
    "output_write": ("{path} could not be written ({reason}). What was there before is intact. Make room or make the directory writable, then try again.",
        "{path} 파일에 쓸 수 없습니다({reason}). 전에 있던 내용은 그대로입니다. 공간을 확보하거나 디렉터리에 쓸 수 있게 한 뒤 다시 시도하세요."),
    # what cannot be imported
    "no_source": ("{path} contains no sessions: neither current.json nor snapshots nor history.db, nor an export of sessions as JSON. Nothing was saved. Name the directory .context-sync, or a file that `{cli} sessions export --format json` has written.",
        "{path}에는 세션이 없습니다. current.json도 snapshots도 history.db도 아니고, JSON으로 내보낸 세션도 아닙니다. 저장된 것은 없습니다. .context-sync 디렉터리나 `{cli} sessions export --format json`이 쓴 파일을 지정하세요."),
    "exported_document": ("{path} is an export of sessions for people, from which they cannot be read again. Nothing was saved. Export them with `{cli} sessions export --format json` and import that.",
        "{path} 파일은 사람이 읽도록 내보낸 세션이라 다시 가져올 수 없습니다. 저장된 것은 없습니다. `{cli} sessions export --format json`으로 내보낸 파일을 가져오세요."),
    "newer_export": ("{path} was exported by a newer version of this program (format {version}). Nothing was saved. Update Sentinel-Memory, then try again.",
        "{path} 파일은 이 프로그램의 더 새로운 버전이 내보낸 것입니다(형식 {version}). 저장된 것은 없습니다. Sentinel-Memory를 업데이트한 뒤 다시 시도하세요."),
}
# fmt: on
say: Callable[..., str] = partial(sentence, WORDS)
