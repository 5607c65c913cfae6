"""Holds what `add` says of a fragment, in both languages."""

from functools import partial

from core.messages import Table, sentence

# fmt: off
WORDS: Table = {
    "promoted": ("{id} is a lesson now, and recall leaves the fragment out. `{cli} fragments restore {id}` puts it back; the lesson stays.",
        "{id}은(는) 이제 교훈이며, 회상에서는 빠집니다. `{cli} fragments restore {id}`(으)로 다시 회상하게 합니다. 교훈은 남습니다."),
    "would_join": ("The log has this lesson already and would stay as it is. Fragment {id} would leave recall:", "로그에 이미 이 교훈이 있어 로그는 그대로이고, 조각 {id}은(는) 회상에서 빠집니다:"),
    "ask_join": ("Take it out of recall?", "회상에서 뺄까요?"),
    "promoted_before": ("{id}: it is the lesson {record} already. Nothing was changed. `{cli} fragments restore {id}` makes it a fragment again.",
        "{id}: 이미 교훈 {record}입니다. 바뀐 것은 없습니다. `{cli} fragments restore {id}`(으)로 다시 조각이 됩니다."),
}
# fmt: on
word = partial(sentence, WORDS)
