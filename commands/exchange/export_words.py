"""Every sentence of the export, in English and Korean, by name."""

from functools import partial

from core.messages import sentence

# fmt: off
WORDS: dict[str, tuple[str, str]] = {
    # the document
    "title": ("Memory of {project}", "{project}의 기억"),
    "intro": ("Principles: {principles}, logs: {logs}. Exported {date}.",
        "principle {principles}건, log {logs}건. {date}에 내보냄."),
    "principle": ("Principles", "principle: 통합한 규칙"),
    "log": ("Logs", "log: 개별 기록"),
    "empty": ("No records.", "기록이 없습니다."),
    "missing": ("Missing then", "당시 빠져 있던 정보"),
    "ask": ("Ask first", "먼저 물을 질문"),
    "paths": ("Files", "대상 파일"),
    "saved": ("saved {date}", "{date} 저장"),
    "compacted": ("compacted {date}", "{date} 통합"),
    # what a model reads in a file of the user
    "block_head": ("These are lessons of the team, generated from the project's memory (`cli.py export --block`). Do not edit them here: the next run replaces them.",
        "이 프로젝트의 기억에서 만든 팀의 lesson이다(`cli.py export --block`). 여기서 고치지 말 것. 다음 실행 때 덮어쓴다."),
    "rule_head": ("Lessons of the team on {topic}, generated from the project's memory (`cli.py export --rules`). Do not edit them here: the next run replaces this file.",
        "{topic}에 관해 프로젝트의 기억에서 만든 팀의 lesson이다(`cli.py export --rules`). 여기서 고치지 말 것. 다음 실행 때 덮어쓴다."),
    "rule_about": ("Lessons of the team on {topic}", "{topic}에 관한 팀의 lesson"),
    # what a command says
    "written": ("Written: {path} (records: {count:,}).",
        "{path} 파일에 썼습니다(기록 {count:,}건)."),
    "none_chosen": ("No record was chosen.", "고른 기록이 없습니다."),
    "redacted": ("Secrets replaced in what is exported: {count:,} ({kinds}). They still stand in the memory: cli.py scan shows where, cli.py scan --redact takes them out.",
        "내보내면서 가린 비밀 값 {count:,}개({kinds}). 기억에는 그대로 남아 있습니다. cli.py scan으로 위치를 확인하고 cli.py scan --redact로 지우십시오."),
    "conflicts": ("The memory log holds conflict markers of git (conflicts: {conflicts:,}); the records of both sides are exported. cli.py doctor --fix resolves the conflict; then git add the file.",
        "기억 로그에 git 충돌 표시가 있습니다(충돌 {conflicts:,}건). 양쪽 기록을 모두 내보냅니다. cli.py doctor --fix로 충돌을 해결한 뒤 git add를 하십시오."),
    "skipped": ("Lines of the memory log that cannot be read and are not exported: {skipped:,}. cli.py doctor shows them.",
        "읽을 수 없어 내보내지 않는 기억 로그의 줄 {skipped:,}개. cli.py doctor로 볼 수 있습니다."),
    "left_out": ("Left out, because it reads like instructions to a model ({marks}) and would be followed in this file: {record}. Log it again in other words, or delete it.",
        "모델에 내리는 지시처럼 읽혀({marks}) 이 파일에 넣으면 그대로 따를 수 있으므로 뺐습니다: {record}. 다른 말로 고쳐 다시 기록하거나 지우십시오."),
    "no_principles": ("There are no principles for a block. Compact the memory first (compact_memory).",
        "블록에 넣을 principle이 없습니다. 먼저 기억을 통합하십시오(compact_memory)."),
    "no_paths": ("None of the chosen records names files (paths), so there is no rule to write.",
        "고른 기록 가운데 대상 파일(paths)이 있는 것이 없어 쓸 규칙이 없습니다."),
    "unchanged": ("Nothing to change: {path}", "바꿀 것이 없습니다: {path}"),
    "changed": ("Changed: {path}", "바꿨습니다: {path}"),
    "created": ("Created: {path}", "만들었습니다: {path}"),
    "removed": ("Removed: {path}", "지웠습니다: {path}"),
    "would_change": ("Would change: {path}", "바뀔 파일: {path}"),
    "would_create": ("Would create: {path}", "만들 파일: {path}"),
    "would_remove": ("Would remove: {path}", "지울 파일: {path}"),
    "dry": ("Nothing was written (--dry-run).", "아무것도 쓰지 않았습니다(--dry-run)."),
    "read_twice": ("Visual Studio Code reads {one} and {other}, so that it sees these rules twice. Take one of the two out with --remove.",
        "Visual Studio Code는 {one}와(과) {other}를 모두 읽으므로 같은 규칙을 두 번 보게 됩니다. --remove로 한쪽을 빼십시오."),
    # refusals
    "no_html": ("the page is written by another command now: cli.py view -o FILE",
        "페이지는 이제 다른 명령으로 씁니다: cli.py view -o FILE"),
    "no_place": ("There is no directory of yours to keep the page in (no home directory). Nothing was written. Name a file with -o FILE.",
        "페이지를 둘 사용자 디렉터리가 없습니다(홈 디렉터리 없음). 아무것도 쓰지 않았습니다. -o FILE로 파일을 지정하십시오."),
    "no_topic": ("No record has exactly the topic {topic}. Nothing was written. Existing topics, the closest first: {topics}.",
        "topic이 정확히 {topic}인 기록이 없습니다. 아무것도 쓰지 않았습니다. 있는 topic(가까운 순): {topics}."),
    "exists": ("{path} exists already and was left as it is. Choose another name, or replace it with --force.",
        "{path} 파일이 이미 있어 그대로 두었습니다. 다른 이름을 쓰거나 --force로 바꾸십시오."),
    "foreign": ("{path} was not written by this command and was left as it is. Rename it, then repeat the command.",
        "{path} 파일은 이 명령이 만든 것이 아니어서 그대로 두었습니다. 이름을 바꾼 뒤 명령을 되풀이하십시오."),
    "file_read": ("{path} cannot be read ({reason}). It was left as it is. Make it a readable file, then repeat the command.",
        "{path} 파일을 읽을 수 없습니다({reason}). 그대로 두었습니다. 읽을 수 있는 파일로 만든 뒤 명령을 되풀이하십시오."),
    "file_write": ("{path} could not be written ({reason}). It is as it was. Make the file and its directory writable, then repeat the command.",
        "{path} 파일에 쓸 수 없습니다({reason}). 이전 상태 그대로입니다. 파일과 디렉터리에 쓸 수 있게 한 뒤 명령을 되풀이하십시오."),
    "file_changed": ("{path} was changed by another program meanwhile, and was left as it is. Repeat the command.",
        "그 사이 다른 프로그램이 {path} 파일을 바꾸어 그대로 두었습니다. 명령을 되풀이하십시오."),
    "not_utf_8": ("{path} is not UTF-8 text and was left as it is. Save it as UTF-8, then repeat the command.",
        "{path} 파일이 UTF-8 텍스트가 아니어서 그대로 두었습니다. UTF-8로 저장한 뒤 명령을 되풀이하십시오."),
    "hides_agents": ("{path} does not exist, and AGENTS.md beside it does: Claude Code would read a new CLAUDE.md in its place. Nothing was written. Put the block into AGENTS.md, or first make a CLAUDE.md with the line @AGENTS.md.",
        "{path} 파일은 없고 옆에 AGENTS.md가 있습니다. CLAUDE.md를 새로 만들면 Claude Code가 AGENTS.md 대신 그 파일을 읽습니다. 아무것도 쓰지 않았습니다. 블록을 AGENTS.md에 넣거나, @AGENTS.md 한 줄이 든 CLAUDE.md를 먼저 만드십시오."),
    "broken_block": ("{path}: the marker lines of the block stand alone, twice or in the wrong order. The file was left as it is. Delete the lines that contain {marker}, then repeat the command.",
        "{path}: 블록의 표시 줄이 짝이 맞지 않거나 두 번 있습니다. 파일은 그대로 두었습니다. {marker}가 든 줄을 지운 뒤 명령을 되풀이하십시오."),
}
# fmt: on

word = partial(sentence, WORDS)
