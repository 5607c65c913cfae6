"""Holds the sentences on databases, in both languages."""

from core.messages import Table

# fmt: off
WORDS: Table = {
    "damaged": ("The database {path} is damaged ({reason}). Nothing was changed, and nothing is saved in it any more. There is a daily copy of {copy}. Run {cli} doctor --fix: it keeps the damaged file and puts the newest whole copy in its place.",
        "데이터베이스 {path}이(가) 손상되었습니다({reason}). 아무것도 바뀌지 않았고, 이제 여기에 저장하지 않습니다. {copy}의 일일 사본이 있습니다. {cli} doctor --fix를 실행하면 손상된 파일은 남겨 두고, 온전한 사본 가운데 가장 새것을 그 자리에 놓습니다."),
    "damaged_alone": ("The database {path} is damaged ({reason}). Nothing was changed, and no new one was made in its place. There is no daily copy yet. Put a backup in its place, or run {cli} doctor --fix: it keeps the damaged file and begins an empty one.",
        "데이터베이스 {path}이(가) 손상되었습니다({reason}). 아무것도 바뀌지 않았고, 새 데이터베이스를 대신 만들지도 않았습니다. 일일 사본은 아직 없습니다. 백업을 그 자리에 놓거나 {cli} doctor --fix를 실행하세요. 손상된 파일은 남겨 두고 빈 데이터베이스를 시작합니다."),
    "copy": ("The daily copy of the database {path} could not be made ({reason}). The database is as it was, and so are the copies that were there. Make room, or make its directory writable; the next save tries again. {cli} doctor says whether the database itself is whole.",
        "데이터베이스 {path}의 일일 사본을 만들 수 없습니다({reason}). 데이터베이스와 이미 있던 사본은 그대로입니다. 공간을 확보하거나 디렉터리에 쓸 수 있게 하세요. 다음 저장 때 다시 시도합니다. 데이터베이스 자체가 온전한지는 {cli} doctor가 알려 줍니다."),
    "newer": ("The database {path} was written by a newer version of this program (schema {found}; this one knows {known}). Nothing was read or changed. Update the program, then try again.",
        "데이터베이스 {path}은(는) 더 새로운 버전의 프로그램이 쓴 것입니다(스키마 {found}, 이 프로그램은 {known}까지 압니다). 아무것도 읽거나 바꾸지 않았습니다. 프로그램을 업데이트한 뒤 다시 시도하세요."),
    "foreign": ("{path} is a database of another program, or one has changed its tables. Nothing in it was changed. Move it away or name another file, then try again.",
        "{path}은(는) 다른 프로그램의 데이터베이스이거나, 다른 프로그램이 테이블을 바꿨습니다. 아무것도 바꾸지 않았습니다. 그 파일을 옮기거나 다른 파일 이름을 지정한 뒤 다시 시도하세요."),
    "link": ("{path} is a symbolic link, and a database must not be one. Nothing was read or written, and what it points to was not touched. Remove the link ({rm}), then try again.",
        "{path}은(는) 심볼릭 링크인데, 데이터베이스는 링크일 수 없습니다. 아무것도 읽거나 쓰지 않았고, 링크가 가리키는 것도 건드리지 않았습니다. 링크를 지운 뒤({rm}) 다시 시도하세요."),
    "moved": ("The database {path} was removed or replaced while it was being written. What has the name now was not changed, and nothing was saved in it. Try again.",
        "쓰는 동안 데이터베이스 {path}이(가) 지워졌거나 다른 파일로 바뀌었습니다. 지금 그 이름을 가진 것은 바뀌지 않았고 거기에 저장된 것도 없습니다. 다시 시도하세요."),
    "wait_ended": ("Another process is writing the database {path}, and this call was cancelled or its server is ending, so it waited no longer. Nothing was saved; the database is unchanged. Make the same call again.",
        "다른 프로세스가 데이터베이스 {path}에 쓰고 있는데, 호출이 취소되었거나 서버가 끝나는 중이어서 더 기다리지 않았습니다. 저장된 것은 없고 데이터베이스는 그대로입니다. 같은 호출을 다시 하세요."),
    "read": ("The database {path} cannot be read ({reason}). Nothing was changed. This does not mean that it is empty: make the file readable, and its directory writable where a -wal file lies beside it, then try again.",
        "데이터베이스 {path}을(를) 읽을 수 없습니다({reason}). 아무것도 바뀌지 않았습니다. 비어 있다는 뜻이 아닙니다. 파일을 읽을 수 있게 하고, 옆에 -wal 파일이 있으면 디렉터리에 쓸 수 있게 한 뒤 다시 시도하세요."),
    "write": ("The database {path} could not be written ({reason}). It is unchanged, and nothing was saved. Make room, or make the file and its directory writable, then try again.",
        "데이터베이스 {path}에 쓸 수 없습니다({reason}). 저장된 것은 없고 데이터베이스는 그대로입니다. 공간을 확보하거나 파일과 디렉터리에 쓸 수 있게 한 뒤 다시 시도하세요."),
    "busy": ("Another process has kept the database {path} busy for more than {waited_s} s. Nothing was saved; the database is unchanged. Try again; if this persists, look for a hung process that uses this project.",
        "다른 프로세스가 데이터베이스 {path}을(를) {waited_s}초 넘게 쓰고 있습니다. 저장된 것은 없고 데이터베이스는 그대로입니다. 다시 시도하고, 계속되면 이 프로젝트를 쓰는 멈춘 프로세스가 있는지 확인하세요."),
}
# fmt: on
