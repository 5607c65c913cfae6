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
