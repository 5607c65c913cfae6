"""Holds the sentences that the sessions refuse with, in both languages."""

from collections.abc import Callable
from functools import partial

from core.messages import Table, sentence

# fmt: off
WORDS: Table = {
    "no_such_session": ("{name}: this project has no such session. Nothing was changed. context_search lists numbers and ids; give one as #12 or ctx_….",
        "{name}: 이 프로젝트에 그런 세션이 없습니다. 아무것도 바뀌지 않았습니다. 번호와 id는 context_search에 나옵니다. #12나 ctx_… 형태로 주세요."),
    "blank": ("{field}: it is blank. Nothing was saved. Fill it in and call again.",
        "{field}: 비어 있습니다. 저장된 것은 없습니다. 내용을 넣어 다시 호출하세요."),
    "too_long": ("{field}: {chars:,} characters, {over:,} above the limit of {most:,}. Nothing was saved. Shorten it and call again.",
        "{field}: {chars:,}자로, 상한 {most:,}자를 {over:,}자 넘었습니다. 저장된 것은 없습니다. 줄여서 다시 호출하세요."),
    "too_many": ("{field}: {count:,} given, at most {most:,} allowed. Nothing was saved. Keep those that matter and call again.",
        "{field}: {count:,}개로, {most:,}개까지만 둘 수 있습니다. 저장된 것은 없습니다. 중요한 것만 남겨 다시 호출하세요."),
    "lone_surrogate": ("{field}: it contains half of a character (a lone surrogate). Nothing was saved. Send the text again without it.",
        "{field}: 깨진 글자(짝이 없는 서로게이트)가 들어 있습니다. 저장된 것은 없습니다. 그 글자를 빼고 다시 보내세요."),
    "secret_refused": ("{field}: this looks like a secret ({kinds}). Nothing was saved. Remove it, say where it is kept instead, and call again. If it is real, have it rotated: it was in this conversation.",
        "{field}: 비밀 값으로 보이는 것이 있습니다({kinds}). 저장된 것은 없습니다. 값을 빼고, 대신 어디에 보관하는지를 적어 다시 호출하세요. 실제 비밀 값이라면 이 대화에 노출되었으니 새 값으로 바꿔야 합니다."),
    "bad_status": ("status: {known} are the words for it. Nothing was saved. Use one of them and call again.",
        "status: 쓸 수 있는 말은 {known}입니다. 저장된 것은 없습니다. 그중 하나로 다시 호출하세요."),
    "bad_result": ("approaches: result must be one of {known}. Nothing was saved. Correct it and call again.",
        "approaches: result에는 {known} 가운데 하나만 쓸 수 있습니다. 저장된 것은 없습니다. 고쳐서 다시 호출하세요."),
    "own_parent": ("parentId: a session cannot continue itself or one that continues it. Nothing was saved. Name an earlier session, or leave parentId out.",
        "parentId: 세션은 자기 자신이나 자기 뒤를 이은 세션을 이을 수 없습니다. 저장된 것은 없습니다. 더 이른 세션을 지정하거나 parentId를 빼세요."),
    "archived": ("{name} is archived and cannot be continued. Nothing was saved. Save a new session with parentId {name} instead.",
        "{name}은(는) 보관된 세션이라 이어서 쓸 수 없습니다. 저장된 것은 없습니다. 대신 parentId를 {name}(으)로 하여 새 세션을 저장하세요."),
    "bad_date": ("{field}: it is not a date such as 2026-11-22. Nothing was searched or changed. Correct it and call again.",
        "{field}: 2026-11-22 같은 날짜가 아닙니다. 아무것도 찾거나 바꾸지 않았습니다. 고쳐서 다시 호출하세요."),
    "bad_config": ("{path}: {name} must be {expected}. Nothing was saved or changed. Correct that value, or remove the key to get its default, then try again.",
        "{path}: {name}에는 {expected}이(가) 와야 합니다. 저장하거나 바꾼 것은 없습니다. 값을 고치거나 그 키를 지워 기본값을 쓰게 한 뒤 다시 시도하세요."),
    "config_json": ("{path} is not a JSON object. Nothing was saved or changed. Correct the file, or remove it to get the defaults, then try again.",
        "{path}은(는) JSON 객체가 아닙니다. 저장하거나 바꾼 것은 없습니다. 파일을 고치거나, 지워서 기본값을 쓰게 한 뒤 다시 시도하세요."),
    "folder": ("The directory {path} could not be made ({reason}). Nothing was saved. Make its parent writable, then try again.",
        "디렉터리 {path}을(를) 만들 수 없습니다({reason}). 저장된 것은 없습니다. 상위 디렉터리에 쓸 수 있게 한 뒤 다시 시도하세요."),
    "outside": ("{path} is a symbolic link that leads out of the project, and sessions stay inside. Nothing was read or written, and what it points to was not touched. Remove the link ({rm}), then try again.",
        "{path}은(는) 프로젝트 밖으로 나가는 심볼릭 링크인데, 세션은 프로젝트 안에만 둡니다. 아무것도 읽거나 쓰지 않았고, 링크가 가리키는 것도 건드리지 않았습니다. 링크를 지운 뒤({rm}) 다시 시도하세요."),
    "ignored": ("{path} is a link or a directory, so git might take in the database beside it. Nothing was saved or changed. Move it away, then save again: a file that keeps the database out of git is made in its place.",
        "{path}이(가) 링크나 디렉터리여서, 옆에 있는 데이터베이스가 git에 들어갈 수 있습니다. 저장하거나 바꾼 것은 없습니다. 그것을 옮긴 뒤 다시 저장하세요. 데이터베이스를 git에서 빼는 파일이 그 자리에 만들어집니다."),
    "expects_bool": ("true or false", "true나 false"),
    "expects_texts": ("a list of texts", "문자열 목록"),
    "expects_limit": ("a whole number from 1 to 20", "1에서 20까지의 정수"),
    "expects_object": ("an object", "객체"),
    "expects_file": ("a plain file name that ends with .db and does not begin with archive-", ".db로 끝나고 archive-로 시작하지 않는 파일 이름(경로 없이)"),
    "expects_folder": ("a directory inside the project, such as .context-sync", ".context-sync처럼 프로젝트 안에 있는 디렉터리"),
    "expects_tokenizer": ("unicode61, ascii, porter or trigram", "unicode61, ascii, porter, trigram 중 하나"),
}
# fmt: on
say: Callable[..., str] = partial(sentence, WORDS)
