"""Holds the sentences of `promote`, in both languages."""

from functools import partial

from core.messages import Table, sentence

# fmt: off
WORDS: Table = {
    "promoted": ("{id} is a lesson now, and recall leaves the fragment out. `{cli} promote --undo {id}` takes it back.",
        "{id}은(는) 이제 교훈이며, 회상에서는 빠집니다. `{cli} promote --undo {id}`(으)로 되돌립니다."),
    "would_join": ("The log has this lesson already and would stay as it is. Fragment {id} would leave recall:", "로그에 이미 이 교훈이 있어 로그는 그대로이고, 조각 {id}은(는) 회상에서 빠집니다:"),
    "ask_join": ("Take it out of recall?", "회상에서 뺄까요?"),
    "promoted_before": ("{id}: it is the lesson {record} already. Nothing was changed. `{cli} promote --undo {id}` takes it back.",
        "{id}: 이미 교훈 {record}입니다. 바뀐 것은 없습니다. `{cli} promote --undo {id}`(으)로 되돌립니다."),
    "would_undo": ("Fragment {id} would be recalled again, and this record would leave the log:", "조각 {id}을(를) 다시 회상하고, 이 기록은 로그에서 빠집니다:"),
    "would_only_undo": ("Fragment {id} would be recalled again.", "조각 {id}을(를) 다시 회상합니다."),
    "ask_undo": ("Take it back?", "되돌릴까요?"),
    "undone": ("{id} is a fragment again.", "{id}은(는) 다시 조각입니다."),
    "record_gone": ("Record {record} has left the log, and is kept beside it.", "기록 {record}을(를) 로그에서 뺐고, 옆에 보관합니다."),
    "record_stays": ("Record {record} stays in the log: the promotion did not make it, or somebody has changed it since. `{cli} forget {record}` removes it.",
        "기록 {record}은(는) 로그에 남습니다. 이 조각이 만든 기록이 아니거나 그 뒤에 누군가 고쳤습니다. 지우려면 `{cli} forget {record}`을(를) 실행하세요."),
    "record_merged": ("Record {record} was merged into the principle {principle}, which stays in the log. `{cli} show {principle}` shows it.",
        "기록 {record}은(는) principle {principle}(으)로 합쳐졌고, 이 principle은 로그에 남습니다. `{cli} show {principle}`(으)로 볼 수 있습니다."),
    "record_absent": ("Record {record} is not in the log of this project.", "이 프로젝트의 로그에는 기록 {record}이(가) 없습니다."),
}
# fmt: on
word = partial(sentence, WORDS)
