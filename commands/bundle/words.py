"""Every sentence of the bundle and of the command that builds it, in English and Korean."""

from functools import partial

from core.messages import sentence

# fmt: off
WORDS: dict[str, tuple[str, str]] = {
    # the command
    "written": ("{path}: {files} files, {size:,} bytes.",
        "{path}: 파일 {files}개, {size:,}바이트."),
    "next": ("In Claude Desktop: Settings -> Extensions -> Advanced settings -> Install Extension. Choose this file, then the directory of your project.",
        "Claude Desktop에서 Settings -> Extensions -> Advanced settings -> Install Extension으로 이 파일을 고른 다음, 프로젝트 디렉터리를 지정하세요."),
    "other_name": ("{path}: a client knows a bundle by its name, which must end in .mcpb. Nothing was written. Repeat the command with such a name.",
        "{path}: 클라이언트는 이름을 보고 번들을 알아보므로 이름이 .mcpb로 끝나야 합니다. 아무것도 쓰지 않았습니다. 이름을 바꾸어 다시 실행하세요."),
    "other_file": ("{path}: it already exists and is not a bundle of Sentinel-Memory. Nothing was written. Move it away, or give another name with -o.",
        "{path}: 같은 이름이 이미 있고 Sentinel-Memory 번들이 아닙니다. 아무것도 쓰지 않았습니다. 다른 곳으로 옮기거나 -o로 다른 이름을 주세요."),
    "incomplete": ("{path}: it belongs in the bundle but cannot be read ({reason}). Nothing was written. Restore it in the clone, for instance with git, then repeat the command.",
        "{path}: 번들에 들어가야 하는데 읽을 수 없습니다({reason}). 아무것도 쓰지 않았습니다. git 등으로 저장소의 파일을 되살린 뒤 다시 실행하세요."),
    "not_written": ("{path}: the bundle could not be written ({reason}). What was there is unchanged. Name a writable place with -o.",
        "{path}: 번들을 쓸 수 없습니다({reason}). 원래 있던 것은 그대로입니다. 쓸 수 있는 위치를 -o로 주세요."),
    # what a client shows of the bundle
    "description": ("What instructions left out, remembered for the next task: in one text file of your project, shared through git.",
        "지시에 빠져 있던 것을 다음 작업을 위해 기억합니다. 프로젝트의 텍스트 파일 하나에 저장하고 git으로 공유합니다."),
    "long_description": ("A coding agent stumbles over the same thing twice because nobody wrote it down the first time. Sentinel-Memory records what the instructions left out, gives it back before the next task, and compresses it when it piles up. Everything lives in `.context/memory_log.jsonl` of the project you choose; there is no database and no network service.\n\nOne installation serves one project. To use it for another, choose its directory in the settings of this extension.",
        "처음에 아무도 적어 두지 않으면 코딩 에이전트는 같은 곳에서 두 번 걸려 넘어집니다. Sentinel-Memory는 지시에 빠져 있던 것을 기록하고, 다음 작업 전에 돌려주고, 쌓이면 통합합니다. 모든 기록은 선택한 프로젝트의 `.context/memory_log.jsonl`에 있으며, 데이터베이스도 네트워크 서비스도 쓰지 않습니다.\n\n한 번 설치하면 프로젝트 하나를 다룹니다. 다른 프로젝트에 쓰려면 이 확장 프로그램의 설정에서 프로젝트 디렉터리를 바꾸세요."),
    "search_memory": ("Lessons of earlier tasks in this project. Call it before you plan or edit anything, unless the session start showed all records.",
        "이 프로젝트의 이전 작업에서 얻은 교훈입니다. 세션을 시작할 때 기록이 모두 나오지 않았다면, 계획하거나 고치기 전에 호출합니다."),
    "log_memory": ("Save one gap after a task: what the instructions left out and a newcomer must be told first.",
        "작업이 끝난 뒤, 지시에 빠져 있었고 새로 온 사람이 먼저 알아야 할 것을 한 가지씩 저장합니다."),
    "compact_memory": ("Call it when an answer requires it: records by topic with their id@fp tokens, and the steps to merge them into principles. Changes nothing without delete_ids.",
        "응답이 통합을 요구할 때 호출합니다. 기록을 id@fp 토큰과 함께 topic별로 보여 주고 principle로 합치는 순서를 알려 줍니다. delete_ids가 없으면 아무것도 바꾸지 않습니다."),
    "project_title": ("Project directory", "프로젝트 디렉터리"),
    "project_description": ("The project whose memory is kept. Records go into its .context/memory_log.jsonl.",
        "기억을 남길 프로젝트. 기록은 그 안의 .context/memory_log.jsonl에 저장됩니다."),
    "language_title": ("Language", "언어"),
    "language_description": ("The language of the server's sentences: en or ko. Records are never translated.",
        "서버가 쓰는 문장의 언어: en 또는 ko. 기록은 번역하지 않습니다."),
}
# fmt: on

word = partial(sentence, WORDS)
