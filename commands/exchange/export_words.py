"""Holds the sentences of the export, in English and Korean."""

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
    # what a model reads in a file of the user
    "block_head": ("These are lessons of the team, generated from the project's memory (`sentinel-memory export --block`). Do not edit them here: the next run replaces them.",
        "이 프로젝트의 기억에서 만든 팀의 교훈이다(`sentinel-memory export --block`). 여기서 고치지 말 것. 다음 실행 때 덮어쓴다."),
    # what a command says
    "none_chosen": ("No record was chosen.", "고른 기록이 없습니다."),
    "left_out": ("Left out, because it reads like instructions to a model ({marks}) and would be followed in this file: {record}. Change its words with `{cli} edit ID`, or delete it with `{cli} forget ID`.",
        "모델에 내리는 지시처럼 읽혀({marks}) 이 파일에 넣으면 그대로 따를 수 있으므로 뺐습니다: {record}. `{cli} edit ID`로 다른 말로 고치거나 `{cli} forget ID`로 지우세요."),
    "no_principles": ("There are no principles for a block. Ask an agent to compact the memory first.",
        "블록에 넣을 principle이 없습니다. 먼저 에이전트에게 기억을 통합하라고 하세요."),
    "unchanged": ("Nothing to change: {path}", "바꿀 것이 없습니다: {path}"),
    "changed": ("Changed: {path}", "바꿨습니다: {path}"),
    "created": ("Created: {path}", "만들었습니다: {path}"),
    "removed": ("Removed: {path}", "지웠습니다: {path}"),
    "would_change": ("Would change: {path}", "바뀔 파일: {path}"),
    "would_create": ("Would create: {path}", "만들 파일: {path}"),
    "would_remove": ("Would remove: {path}", "지울 파일: {path}"),
    "dry": ("Nothing was written (--dry-run).", "아무것도 쓰지 않았습니다(--dry-run)."),
    # refusals
    "no_html": ("another command writes the page now: {cli} view -o FILE",
        "페이지는 이제 다른 명령으로 씁니다: {cli} view -o FILE"),
    "hides_agents": ("{path} does not exist, and AGENTS.md beside it does: Claude Code would read a new CLAUDE.md in its place. Nothing was written. Put the block into AGENTS.md, or first make a CLAUDE.md with the line @AGENTS.md.",
        "{path} 파일은 없고 옆에 AGENTS.md가 있습니다. CLAUDE.md를 새로 만들면 Claude Code가 AGENTS.md 대신 그 파일을 읽습니다. 아무것도 쓰지 않았습니다. 블록을 AGENTS.md에 넣거나, @AGENTS.md 한 줄이 든 CLAUDE.md를 먼저 만드세요."),
    "broken_block": ("{path}: the marker lines of the block are incomplete, repeated or in the wrong order. The file was left unchanged. Delete the lines that contain {marker}, then repeat the command.",
        "{path}: 블록의 표시 줄이 짝이 맞지 않거나 두 번 있습니다. 파일은 그대로 두었습니다. {marker}이(가) 든 줄을 지운 뒤 다시 실행하세요."),
}
# fmt: on

word = partial(sentence, WORDS)
