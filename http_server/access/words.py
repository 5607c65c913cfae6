"""Holds the sentences that keys are refused with, in both languages."""

from core.messages import Table

# fmt: off
WORDS: Table = {
    "short_master": ("{variable} is shorter than {least} characters, and a key that short can be guessed. Nothing was started or changed. Take a longer one, or remove the variable and make a key for each client: {cli} keys add NAME.",
        "{variable}의 값이 {least}자보다 짧아 추측당할 수 있습니다. 아무것도 시작하거나 바꾸지 않았습니다. 더 긴 값을 쓰거나, 변수를 지우고 클라이언트마다 키를 만드세요: {cli} keys add NAME."),
    "name_blank": ("The name of the key is blank. No key was made. Say whose it is: {cli} keys add NAME.",
        "키 이름이 비어 있습니다. 키는 만들지 않았습니다. 누구의 키인지 적으세요: {cli} keys add NAME."),
    "name_long": ("The {what} has {chars} characters, and {most} are the most. No key was made. Take a shorter one.",
        "{what}이(가) {chars}자로, {most}자까지만 쓸 수 있습니다. 키는 만들지 않았습니다. 더 짧게 지으세요."),
    "name_odd": ("The {what} contains a control character or half of a character. No key was made. Write it without.",
        "{what}에 제어 문자나 깨진 글자가 들어 있습니다. 키는 만들지 않았습니다. 그 글자를 빼고 쓰세요."),
    "name_secret": ("The {what} looks like a secret, and names are shown in lists. No key was made. Take a name such as laptop; the key itself is made for you.",
        "{what}이(가) 비밀 값처럼 보이는데, 이름은 목록에 나옵니다. 키는 만들지 않았습니다. laptop 같은 이름을 쓰세요. 키 값은 명령이 만들어 줍니다."),
    "name_taken": ("There is a key named {name} already. No key was made, and that one still works. Take another name, or remove it first: {cli} keys remove {name}.",
        "{name}(이)라는 키가 이미 있습니다. 키는 만들지 않았고, 있던 키는 그대로 쓸 수 있습니다. 다른 이름을 쓰거나 먼저 지우세요: {cli} keys remove {name}."),
    "no_key": ("There is no key named {name}. Nothing was removed. {cli} keys list shows the names.",
        "{name}(이)라는 키가 없습니다. 지운 것은 없습니다. {cli} keys list로 이름을 볼 수 있습니다."),
    "agent_refused": ("{agent} is no name that an agent may have. No key was made. Take the name of a person or a client.",
        "{agent}은(는) 에이전트가 쓸 수 없는 이름입니다. 키는 만들지 않았습니다. 사람이나 클라이언트의 이름을 쓰세요."),
    "one_agent": ("Fragments in a SQLite file are one person's: nothing there keeps those of {agent} from other agents. No key was made. Leave --agent out; to keep agents apart, set SENTINEL_MEMORY_FRAGMENTS to the address of a PostgreSQL server.",
        "SQLite 파일에 있는 조각은 한 사람의 것이어서, {agent}의 조각을 다른 에이전트와 나눌 수 없습니다. 키는 만들지 않았습니다. --agent를 빼세요. 에이전트를 나누려면 SENTINEL_MEMORY_FRAGMENTS에 PostgreSQL 서버의 주소를 넣으세요."),
    "no_place": ("This account has no home directory in which keys could be kept. No key was read or made. Set HOME, or SENTINEL_MEMORY_FRAGMENTS to the address of a PostgreSQL server, then try again.",
        "이 계정에는 키를 둘 홈 디렉터리가 없습니다. 키를 읽거나 만들지 않았습니다. HOME을 정하거나 SENTINEL_MEMORY_FRAGMENTS에 PostgreSQL 서버의 주소를 넣은 뒤 다시 시도하세요."),
}
# fmt: on
