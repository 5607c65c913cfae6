"""Holds kinds and relations for people, and the sentences of the export and the import."""

from collections.abc import Callable
from functools import partial

from core.messages import Table, sentence

# fmt: off
WORDS: Table = {
    # kinds and relations, as a person reads them; an arrow back is a relation of the other fragment
    "fact": ("fact", "사실"),
    "decision": ("decision", "결정"),
    "error": ("error", "오류"),
    "preference": ("preference", "선호"),
    "procedure": ("procedure", "절차"),
    "relation": ("relation", "관계"),
    "related": ("related to", "관련"),
    "caused_by": ("caused by", "원인"),
    "resolved_by": ("resolved by", "해결책"),
    "part_of": ("part of", "상위"),
    "contradicts": ("contradicts", "모순"),
    "superseded_by": ("superseded by", "대체한 조각"),
    "related_back": ("related to", "관련"),
    "caused_by_back": ("cause of", "결과"),
    "resolved_by_back": ("resolves", "해결한 문제"),
    "part_of_back": ("has the part", "하위"),
    "contradicts_back": ("contradicts", "모순"),
    "superseded_by_back": ("supersedes", "대체된 조각"),
    # where a document may be written
    "output_name": ("{path}: a file for an export of fragments ends with {suffixes}. Nothing was written. Choose such a name.",
        "{path}: 조각을 내보낼 파일의 이름은 {suffixes}(으)로 끝나야 합니다. 아무것도 쓰지 않았습니다. 그런 이름으로 다시 지정하세요."),
    "output_outside": ("{path} is a link that leads elsewhere, or no name of a file. Nothing was written. Name the file itself, such as fragments.jsonl.",
        "{path}은(는) 다른 곳으로 가는 링크이거나 파일 이름이 아닙니다. 아무것도 쓰지 않았습니다. fragments.jsonl처럼 파일 자체를 지정하세요."),
    "output_reserved": ("{path} has a name that clients read as instructions, or a hidden one. Nothing was written. Choose another name, such as fragments.jsonl.",
        "{path}은(는) 클라이언트가 지시로 읽는 이름이거나 숨김 파일입니다. 아무것도 쓰지 않았습니다. fragments.jsonl처럼 다른 이름을 지정하세요."),
    "output_exists": ("{path} is there already and is no earlier export of fragments. It is unchanged. Choose another name, or remove that file first.",
        "{path} 파일이 이미 있는데 전에 내보낸 조각 파일이 아닙니다. 그 파일은 그대로입니다. 다른 이름을 지정하거나 그 파일을 먼저 지우세요."),
    "output_write": ("{path} could not be written ({reason}). What was there before is intact. Make room or make the directory writable, then try again.",
        "{path} 파일에 쓸 수 없습니다({reason}). 전에 있던 내용은 그대로입니다. 공간을 확보하거나 디렉터리에 쓸 수 있게 한 뒤 다시 시도하세요."),
    # what cannot be imported
    "no_source": ("{path} contains no fragments: it is neither an export of this program as JSONL, nor a memory.db with the table memory_item, nor JSONL with rows of fragments or entities of server-memory. Nothing was saved. Name such a file.",
        "{path}에는 조각이 없습니다. 이 프로그램이 JSONL로 내보낸 파일도, memory_item 테이블이 있는 memory.db도, 조각의 행이나 server-memory의 엔티티가 든 JSONL도 아닙니다. 저장된 것은 없습니다. 그런 파일을 지정하세요."),
    "unreadable": ("{path} cannot be read ({reason}). Nothing was saved. Make it a readable file, then try again.",
        "{path} 파일을 읽을 수 없습니다({reason}). 저장된 것은 없습니다. 읽을 수 있는 파일인지 확인한 뒤 다시 시도하세요."),
    "not_a_file": ("{path} is not a regular file, or it is a link. Nothing was saved. Name the file itself.",
        "{path}은(는) 일반 파일이 아니거나 링크입니다. 저장된 것은 없습니다. 파일 자체를 지정하세요."),
    "too_large_source": ("{path} is larger than {most:,} bytes. Nothing was saved. Split it, then import the parts one after the other.",
        "{path} 파일이 {most:,}바이트보다 큽니다. 저장된 것은 없습니다. 나누어 차례로 가져오세요."),
    "exported_document": ("{path} is an export of fragments for people, from which they cannot be read again. Nothing was saved. Export them with `{cli} fragments export -o fragments.jsonl` and import that.",
        "{path} 파일은 사람이 읽도록 내보낸 조각이라 다시 가져올 수 없습니다. 저장된 것은 없습니다. `{cli} fragments export -o fragments.jsonl`로 내보낸 파일을 가져오세요."),
    "newer_export": ("{path} was exported by a newer version of this program (format {version}). Nothing was saved. Update Sentinel-Memory, then try again.",
        "{path} 파일은 이 프로그램의 더 새로운 버전이 내보낸 것입니다(형식 {version}). 저장된 것은 없습니다. Sentinel-Memory를 업데이트한 뒤 다시 시도하세요."),
}
# fmt: on
say: Callable[..., str] = partial(sentence, WORDS)
