"""Holds the sentences that the fragments refuse with, in both languages."""

from core.messages import Table

# fmt: off
WORDS: Table = {
    "no_such_fragment": ("{id}: there is no such fragment. Nothing was changed. recall shows the id before each fragment; give one of those.",
        "{id}: 그런 조각이 없습니다. 아무것도 바뀌지 않았습니다. recall이 조각마다 앞에 id를 보여 줍니다. 그중 하나를 주세요."),
    "blank": ("{field}: it is blank. Nothing was saved. Fill it in and call again.",
        "{field}: 비어 있습니다. 저장된 것은 없습니다. 내용을 넣어 다시 호출하세요."),
    "too_long": ("{field}: {chars:,} characters, {over:,} above the limit of {most:,}. Nothing was saved. Shorten it and call again.",
        "{field}: {chars:,}자로, 상한 {most:,}자를 {over:,}자 넘었습니다. 저장된 것은 없습니다. 줄여서 다시 호출하세요."),
    "too_large": ("{field}: {bytes:,} bytes, {over:,} above the limit of {most:,}. Nothing was saved. A fragment is one to three sentences: shorten it, or save it as several fragments.",
        "{field}: {bytes:,}바이트로, 상한 {most:,}바이트를 {over:,}바이트 넘었습니다. 저장된 것은 없습니다. 조각 하나는 한두 문장, 길어도 세 문장입니다. 줄이거나 여러 조각으로 나누어 저장하세요."),
    "too_many": ("{field}: {count:,} given, at most {most:,} allowed. Nothing was saved. Keep those that matter and call again.",
        "{field}: {count:,}개로, {most:,}개까지만 둘 수 있습니다. 저장된 것은 없습니다. 중요한 것만 남겨 다시 호출하세요."),
    "lone_surrogate": ("{field}: it contains half of a character (a lone surrogate). Nothing was saved. Send the text again without it.",
        "{field}: 깨진 글자(짝이 없는 서로게이트)가 들어 있습니다. 저장된 것은 없습니다. 그 글자를 빼고 다시 보내세요."),
    "secret_refused": ("{field}: this looks like a secret ({kinds}). Nothing was saved. Remove it, say where it is kept instead, and call again. If it is real, have it rotated: it was in this conversation.",
        "{field}: 비밀 값으로 보이는 것이 있습니다({kinds}). 저장된 것은 없습니다. 값을 빼고, 대신 어디에 보관하는지를 적어 다시 호출하세요. 실제 비밀 값이라면 이 대화에 노출되었으니 새 값으로 바꿔야 합니다."),
    "bad_type": ("type: {known} are the words for it. Nothing was saved. Use one of them and call again.",
        "type: 쓸 수 있는 말은 {known}입니다. 저장된 것은 없습니다. 그중 하나로 다시 호출하세요."),
    "agent_refused": ("{field}: {name} is no name that a caller may take. Nothing was read or changed. Leave {field} out, or give the name of your agent.",
        "{field}: {name}은(는) 호출하는 쪽에서 쓸 수 없는 이름입니다. 아무것도 읽거나 바꾸지 않았습니다. {field}을(를) 빼거나 에이전트의 이름을 주세요."),
    "agents_together": ("The fragments of this server are one person's (a file), and {name} is not that person's agent. Nothing was read or changed. Use a key of the agent default, or have the server keep its fragments in PostgreSQL: SENTINEL_MEMORY_FRAGMENTS=postgresql://…",
        "이 서버의 조각은 한 사람의 파일에 있는데, {name}은(는) 그 사람의 에이전트가 아닙니다. 아무것도 읽거나 바꾸지 않았습니다. default 에이전트의 키를 쓰거나, 서버가 조각을 PostgreSQL에 두게 하세요: SENTINEL_MEMORY_FRAGMENTS=postgresql://…"),
    "other_agent": ("agentId: {name} is another agent than the one of this credential, {own}. Nothing was read or changed. Leave agentId out, or use the key of {name}.",
        "agentId: {name}은(는) 이 자격 증명의 에이전트({own})가 아닙니다. 아무것도 읽거나 바꾸지 않았습니다. agentId를 빼거나 {name}의 키를 쓰세요."),
    "no_place": ("SENTINEL_MEMORY_FRAGMENTS is not set, and this account has no home directory in which fragments could be kept. Nothing was saved. Set it to the absolute path of a file, such as /srv/memory/memory.db, then try again.",
        "SENTINEL_MEMORY_FRAGMENTS가 비어 있고, 이 계정에는 조각을 둘 홈 디렉터리가 없습니다. 저장된 것은 없습니다. /srv/memory/memory.db 같은 파일의 절대 경로를 넣은 뒤 다시 시도하세요."),
    "bad_place": ("SENTINEL_MEMORY_FRAGMENTS does not hold the absolute path of a file. Nothing was read or saved. Set it to one such as /srv/memory/memory.db, or remove it to keep fragments in the user's data directory.",
        "SENTINEL_MEMORY_FRAGMENTS의 값이 파일의 절대 경로가 아닙니다. 읽거나 저장한 것은 없습니다. /srv/memory/memory.db 같은 경로를 넣거나, 값을 지워 사용자 데이터 디렉터리에 두세요."),
    "bad_config": ("{path}: {name} must be {expected}. Nothing was saved or changed. Correct that value, or remove the key to get its default, then try again.",
        "{path}: {name}에는 {expected}이(가) 와야 합니다. 저장하거나 바꾼 것은 없습니다. 값을 고치거나 그 키를 지워 기본값을 쓰게 한 뒤 다시 시도하세요."),
    "config_json": ("{path} is not a JSON object. Nothing was saved or changed. Correct the file, or remove it to get the defaults, then try again.",
        "{path}은(는) JSON 객체가 아닙니다. 저장하거나 바꾼 것은 없습니다. 파일을 고치거나, 지워서 기본값을 쓰게 한 뒤 다시 시도하세요."),
    "expects_object": ("an object", "객체"),
    "expects_weight": ("a number from 0 to 1", "0에서 1까지의 수"),
    "expects_rest": ("what ranking.importanceWeight leaves of 1", "1에서 ranking.importanceWeight를 뺀 값"),
    "expects_count": ("a whole number, 0 or more", "0 이상의 정수"),
    "expects_days": ("a whole number of days from 0 (never) to 36500", "0(기한 없음)에서 36500까지의 정수(일)"),
    "expects_linked": ("a whole number from 0 to 100", "0에서 100까지의 정수"),
}
# fmt: on
