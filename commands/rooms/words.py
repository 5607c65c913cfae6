"""Every sentence that is about several rooms, in English and Korean."""

from functools import partial

from core.messages import sentence

# fmt: off
WORDS: dict[str, tuple[str, str]] = {
    # a search
    "found_sessions": ("Sessions found: {count:,}", "찾은 세션: {count:,}개"),
    "found_fragments": ("Fragments found: {count:,}", "찾은 조각: {count:,}개"),
    "more_fragments": ("… {more:,} more: `{cli} fragments search {options}`", "… 이 밖에 {more:,}개: `{cli} fragments search {options}`"),
    # a list
    "has_sessions": ("Sessions: {count:,} (`{cli} list --room sessions`)", "세션 {count:,}개: `{cli} list --room sessions`"),
    "has_fragments": ("Fragments: {count:,} (`{cli} list --room fragments`)", "조각 {count:,}개: `{cli} list --room fragments`"),
    # a room that cannot be read
    "without_sessions": ("Without sessions: {reason}", "세션 없이 보여 줍니다. {reason}"),
    "without_fragments": ("Without fragments: {reason}", "조각 없이 보여 줍니다. {reason}"),
    # rooms by their names
    "lessons": ("the log", "로그"),
    "sessions": ("the sessions", "세션"),
    "fragments": ("the fragments", "조각"),
    # refusals
    "nowhere": ("{id}: there is nothing of this id in {rooms}. Nothing was changed. `{cli} list` shows what there is.",
        "{id}: {rooms}에 이 id를 가진 것이 없습니다. 바뀐 것은 없습니다. `{cli} list`로 무엇이 있는지 볼 수 있습니다."),
    "in_several": ("{id} is in several rooms: {rooms}. Nothing was changed. Name the room: `{cli} {command} {typed} --room {room}`",
        "{id}은(는) 여러 방에 있습니다: {rooms}. 바뀐 것은 없습니다. 방을 지정하세요: `{cli} {command} {typed} --room {room}`"),
}
# fmt: on

word = partial(sentence, WORDS)
