"""Sentences for wrong arguments and unexpected failures of a call, in English and Korean."""

from functools import partial

from core.messages import sentence

# fmt: off
WORDS: dict[str, tuple[str, str]] = {
    # refusals
    "wrong_type": ("{field}: it must be {expected}. Nothing was changed. Call {tool} again with the right type.",
        "{field}: {expected} 형식이어야 합니다. 바뀐 것은 없습니다. 형식을 고쳐 {tool} 도구를 다시 호출하세요."),
    "wrong_word": ("{field}: it must be one of {known}. Nothing was changed. Call {tool} again with one of them.",
        "{field}: {known} 중 하나여야 합니다. 바뀐 것은 없습니다. 그중 하나로 {tool} 도구를 다시 호출하세요."),
    "missing_argument": ("{field}: it is required and was left out. Nothing was changed. Call {tool} again with it.",
        "{field}: 필수 인자가 빠졌습니다. 바뀐 것은 없습니다. 이 인자를 넣어 {tool} 도구를 다시 호출하세요."),
    "unknown_argument": ("{field}: {tool} has no such argument. Nothing was changed. It takes {known}.",
        "{field}: {tool}에 없는 인자입니다. 바뀐 것은 없습니다. 쓸 수 있는 인자는 {known}입니다."),
    "unknown_part": ("{field}: {tool} has no such field there. Nothing was changed. It takes {known}.",
        "{field}: {tool}에 없는 항목입니다. 바뀐 것은 없습니다. 쓸 수 있는 항목은 {known}입니다."),
    "log_too_large": ("The memory log has {size:,} bytes; this resource gives at most {most:,}. Nothing was changed. Call search_memory, or read the file .context/memory_log.jsonl in parts.",
        "기억 로그가 {size:,}바이트라, 이 리소스로 줄 수 있는 {most:,}바이트를 넘습니다. 바뀐 것은 없습니다. search_memory를 호출하거나 .context/memory_log.jsonl 파일을 나누어 읽으세요."),
    "no_such_record": ("No record has this id. memory://log shows the whole log.",
        "이 id를 가진 기록이 없습니다. 전체 로그는 memory://log에 있습니다."),
    "no_such_resource": ("There is no such resource. Nothing was changed. Read one of these: {known}.",
        "그런 리소스가 없습니다. 바뀐 것은 없습니다. 다음 중 하나를 읽으세요: {known}."),
    "no_resources": ("There is no such resource. Nothing was changed. This server offers no resources; call its tools.",
        "그런 리소스가 없습니다. 바뀐 것은 없습니다. 이 서버에는 리소스가 없으니 도구를 호출하세요."),
    "no_such_prompt": ("There is no such prompt. Nothing was changed. Ask for one of these: {known}.",
        "그런 프롬프트가 없습니다. 바뀐 것은 없습니다. 다음 중 하나를 요청하세요: {known}."),
    "unknown_prompt_argument": ("{field}: {prompt} has no such argument. Nothing was changed. It takes {known}.",
        "{field}: {prompt}에 없는 인자입니다. 바뀐 것은 없습니다. 쓸 수 있는 인자는 {known}입니다."),
    "no_prompt_argument": ("{field}: {prompt} takes no arguments. Nothing was changed. Ask again without it.",
        "{field}: {prompt} 프롬프트에는 인자가 없습니다. 바뀐 것은 없습니다. 인자 없이 다시 요청하세요."),
    "bad_budget": ("token_budget: it must be a whole number of tokens, {least} or more. Nothing was changed. Ask again with such a number, or leave it out.",
        "token_budget: {least} 이상의 정수(토큰 수)여야 합니다. 바뀐 것은 없습니다. 그런 숫자로 다시 요청하거나 생략하세요."),
    "prompt_nothing": ("The memory holds nothing on this.", "이에 대해 기억된 것이 없습니다."),
    "prompt_one_list": ("What is known on this (lessons of the team, fragments, sessions; notes, not orders):", "이에 대해 아는 것(팀의 교훈, 조각, 세션. 지시가 아닌 메모):"),
    "no_streams": ("standard input or output is closed. The server did not start. Let the client start it, or connect both.",
        "표준 입력이나 출력이 닫혀 있습니다. 서버는 시작하지 않았습니다. 클라이언트가 시작하게 하거나 둘 다 연결하세요."),
    # the end of a process
    "stored_unanswered": ("the client did not take the answers to these calls, but what they asked for is stored: {calls}.",
        "클라이언트가 다음 호출의 응답을 받지 않았으나, 요청한 내용은 저장되어 있습니다: {calls}."),
    "ended_unanswered": ("the process ended before these calls were answered: {calls}. Each is stored whole or not at all; search the memory to see which.",
        "다음 호출에 응답하기 전에 프로세스가 끝났습니다: {calls}. 각각 전부 저장되었거나 전혀 저장되지 않았으니 검색해서 확인하세요."),
    "stored_cancelled": ("a call of {tool} was cancelled while its change was already being written, so it is stored.",
        "{tool} 호출이 취소되었으나 이미 쓰는 중이어서 저장되었습니다."),
    # failures
    "unexpected": ("An unexpected error inside the server. A save in progress is either complete or not there at all. Search the memory to see which; see the server's standard error for details.",
        "서버 내부에서 예기치 않은 오류가 났습니다. 진행 중이던 저장은 전부 되었거나 전혀 되지 않았습니다. 검색해서 확인하세요. 자세한 내용은 서버의 표준 오류에 있습니다."),
    "expected_text": ("a text", "텍스트"),
    "expected_share": ("a number from 0 to 1", "0부터 1까지의 수"),
    "expected_number": ("a whole number", "정수"),
    "expected_most": ("a whole number of at most {bound}", "{bound} 이하의 정수"),
    "expected_least": ("a whole number of {bound} or more", "{bound} 이상의 정수"),
    "expected_flag": ("true or false", "true나 false"),
    "expected_list": ("a list", "목록"),
    "expected_object": ("an object", "객체"),
    "expected_tokens": ("a list of tokens", "토큰 목록"),
    "expected_paths": ("a list of paths", "경로 목록"),
    "expected_pieces": ("a list of pieces of code or command", "코드나 명령 조각의 목록"),
}
# fmt: on

say = partial(sentence, WORDS)
