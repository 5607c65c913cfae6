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
    "would_take": ("Another program has made the tables on {path}. Its schema gets the name {former} and stays as it is; what it holds is copied into new tables, all in one transaction:",
        "{path}의 테이블은 다른 프로그램이 만든 것입니다. 그 스키마는 {former}(으)로 이름만 바뀌고 그대로 남으며, 내용은 한 트랜잭션으로 새 테이블에 복사됩니다."),
    "rows": ("{name}: {count:,}", "{name}: {count:,}개"),
    "linked": ("pairs in linked_to, as links: {count:,}", "linked_to의 쌍을 연결로: {count:,}개"),
    "vectors": ("embeddings: {count:,}", "임베딩: {count:,}개"),
    "changes": ("What is different then: a text is unique no longer across agents, each agent sees its own fragments and those of default, and no agent may call itself system or admin. The other program must not write here any more.",
        "달라지는 점: 같은 글을 여러 에이전트가 각각 가질 수 있고, 에이전트는 자기 조각과 default의 조각만 보며, system이나 admin이라고 자칭할 수 없습니다. 다른 프로그램은 더 이상 여기에 쓰면 안 됩니다."),
    "ask": ("Do it? [y/N] ", "실행할까요? [y/N] "),
    "dry": ("Nothing was changed.", "아무것도 바뀌지 않았습니다."),
    "not_changed": ("Nothing was changed.", "아무것도 바뀌지 않았습니다."),
    "no_terminal": ("Nothing was changed: nobody is at a terminal to agree. Run {cli} fragments migrate --yes.",
        "동의를 받을 터미널이 없어 아무것도 바꾸지 않았습니다. {cli} fragments migrate --yes를 실행하세요."),
    "made": ("The tables on {path} are up to date now (schema {version}).", "이제 {path}의 테이블이 최신입니다(스키마 {version})."),
    "taken": ("Fragments taken over on {path}: {count:,}. The former schema is still there; once you have seen that all is well, remove it with: DROP SCHEMA {former} CASCADE",
        "{path}에서 조각 {count:,}개를 넘겨받았습니다. 이전 스키마는 그대로 남아 있습니다. 모두 제대로인지 확인한 뒤 다음으로 지우세요: DROP SCHEMA {former} CASCADE"),
}
# fmt: on


def word(lang: Language, key: str, /, **facts: str | int) -> str:
    """Return a sentence of this table, facts filled in."""
    return sentence(WORDS, lang, key, **facts)
