"""Holds the sentences on the tables of a server, in both languages."""

from core.messages import Language, Table, sentence

# fmt: off
WORDS: Table = {
    "no_server": ("The fragments are kept in a file, which brings itself up to date. Nothing was changed. To keep them on a server, set SENTINEL_MEMORY_FRAGMENTS to postgresql://….",
        "조각은 파일에 보관되어 있고 파일은 스스로 최신 상태가 됩니다. 아무것도 바뀌지 않았습니다. 서버에 보관하려면 SENTINEL_MEMORY_FRAGMENTS를 postgresql://… 주소로 설정하세요."),
    "current": ("The tables on {path} are up to date (schema {version}). Nothing was changed.",
        "{path}의 테이블은 최신입니다(스키마 {version}). 아무것도 바뀌지 않았습니다."),
    "would_make": ("On {path}, statements to run: {count}. They make the roles sentinel_room and sentinel_upkeep, the schema agent_memory, its tables, and who sees which rows. To read them: {cli} fragments migrate --sql",
        "{path}에서 실행할 문장: {count}개. sentinel_room, sentinel_upkeep 역할과 agent_memory 스키마, 테이블, 누가 어떤 행을 보는지를 만듭니다. 문장 보기: {cli} fragments migrate --sql"),
    "would_convert": ("The extension vector has been added since: the table of the fragments is written anew with a column for vectors, and nobody reads or writes until that is done. Start the servers again afterwards; they then embed what has no embedding.",
        "이후 vector 확장이 추가되었습니다. 조각 테이블에 벡터 열을 만들려고 테이블을 새로 쓰며, 끝날 때까지 아무도 읽거나 쓰지 못합니다. 끝나면 서버를 다시 시작하세요. 그러면 임베딩이 없는 조각을 임베딩합니다."),
    "ask": ("Do it? [y/N] ", "실행할까요? [y/N] "),
    "dry": ("Nothing was changed.", "아무것도 바뀌지 않았습니다."),
    "not_changed": ("Nothing was changed.", "아무것도 바뀌지 않았습니다."),
    "no_terminal": ("Nothing was changed: nobody is at a terminal to agree. Run {cli} fragments migrate --yes.",
        "동의를 받을 터미널이 없어 아무것도 바꾸지 않았습니다. {cli} fragments migrate --yes를 실행하세요."),
    "made": ("The tables on {path} are up to date now (schema {version}).", "이제 {path}의 테이블이 최신입니다(스키마 {version})."),
}
# fmt: on


def word(lang: Language, key: str, /, **facts: str | int) -> str:
    """Return a sentence of this table, facts filled in."""
    return sentence(WORDS, lang, key, **facts)
