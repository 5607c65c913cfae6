"""Holds what a command line says of its arguments, in English and Korean."""

from functools import partial

from core.messages import sentence

# fmt: off
WORDS: dict[str, tuple[str, str]] = {
    # the page that --help prints
    "usage": ("usage: ", "사용법: "),
    "positional arguments": ("arguments", "인자"),
    "options": ("options", "옵션"),
    "help": ("show this page and end", "이 도움말을 보여 주고 끝냅니다"),
    "server": ("Serves the memory of a project over MCP, on standard input and output.", "표준 입출력을 통해 프로젝트의 기억을 MCP로 제공합니다."),
    "project": ("the project whose memory is meant", "대상 프로젝트의 디렉터리"),
    "rooms": ("what the server offers: lessons (the default), sessions, fragments, several with commas; sessions:core and fragments:core for fewer of their tools", "서버가 제공할 것: lessons(기본값), sessions, fragments. 여럿이면 쉼표로 나눕니다. sessions:core와 fragments:core는 도구를 일부만 제공합니다"),
    "http": ("serve over HTTP on this port (the default: PORT, else 56332; 0 for any that is free) instead of standard input and output",
        "표준 입출력 대신 HTTP로 이 포트에서 제공합니다(기본값: PORT, 없으면 56332. 0이면 비어 있는 포트)"),
    "host": ("the address to listen on (the default: 127.0.0.1)", "접속을 받을 주소(기본값: 127.0.0.1)"),
    "url": ("the address that clients use, where a proxy is in front of the server: https://memory.example",
        "서버 앞에 프록시가 있을 때 클라이언트가 쓰는 주소: https://memory.example"),
    "sse": ("also offer /sse and /message, for clients that know no other way", "다른 방식을 모르는 클라이언트를 위해 /sse와 /message도 제공합니다"),
    "no_auth": ("let in everybody on this machine without a key; only on 127.0.0.1", "이 컴퓨터에서는 누구나 키 없이 쓰게 합니다. 127.0.0.1에서만 됩니다"),
    "version": ("show the version and end", "버전을 보여 주고 끝냅니다"),
    # what is wrong with an argument; {name} is an option, or what stands in its place
    "required": ("{names} is missing.", "필요한 인자가 없습니다: {names}."),
    "one_of": ("one of these is missing: {names}.", "다음 가운데 하나가 필요합니다: {names}."),
    "apart": ("{name} and {other} cannot be used together.", "함께 쓸 수 없습니다: {name}, {other}."),
    "one_value": ("{name} needs a value.", "값이 필요합니다: {name}."),
    "at_most_one": ("{name} takes one value at most.", "값을 하나까지만 받습니다: {name}."),
    "values": ("{name} needs this many values: {count}.", "필요한 값의 수: {name} {count}개."),
    "no_value": ("{name} takes no value, and got {value}.", "값을 받지 않습니다: {name} (받은 값: {value})."),
    "choice": ("{name}: {value} is none of {choices}.", "{name}: {value} 값은 쓸 수 없습니다. 쓸 수 있는 값: {choices}."),
    "command": ("There is no command {value}.", "없는 명령입니다: {value}."),
    "option": ("There is no option {value}.", "없는 옵션입니다: {value}."),
    "too_many": ("There is no place for {value}.", "남는 인자가 있습니다: {value}."),
    "near": ("Did you mean {near}?", "비슷한 이름: {near}."),
    # the end of each
    "see": ("Nothing was done. {command} shows what it takes.", "아무것도 하지 않았습니다. 쓰는 법: {command}"),
}
# fmt: on

word = partial(sentence, WORDS)
