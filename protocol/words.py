"""Sentences for wrong arguments and unexpected failures of a call, in English and Korean."""

from functools import partial

from core.messages import sentence

# fmt: off
WORDS: dict[str, tuple[str, str]] = {
    # refusals
    "wrong_type": ("{field}: it must be {expected}. The file is unchanged. Call {tool} again with the right type.",
        "{field}: {expected} 형식이어야 합니다. 파일은 바뀌지 않았습니다. 형식을 고쳐 {tool} 도구를 다시 호출하십시오."),
    "missing_argument": ("{field}: it is required and was left out. The file is unchanged. Call {tool} again with it.",
        "{field}: 필수 인자가 빠졌습니다. 파일은 바뀌지 않았습니다. 이 인자를 넣어 {tool} 도구를 다시 호출하십시오."),
    "unknown_argument": ("{field}: {tool} has no such argument. The file is unchanged. It takes {known}.",
        "{field}: {tool}에 없는 인자입니다. 파일은 바뀌지 않았습니다. 쓸 수 있는 인자는 {known}입니다."),
    # failures
    "unexpected": ("An unexpected error inside the server. A save that was under way is either complete or not there at all. Search the memory to see which; the server's standard error says more.",
        "서버 내부에서 예기치 않은 오류가 났습니다. 진행 중이던 저장은 전부 되었거나 전혀 되지 않았습니다. 검색해서 확인하십시오. 자세한 내용은 서버의 표준 오류에 있습니다."),
    "expected_text": ("a text", "텍스트"),
    "expected_number": ("a whole number", "정수"),
    "expected_tokens": ("a list of tokens", "토큰 목록"),
    "expected_paths": ("a list of paths", "경로 목록"),
}
# fmt: on

say = partial(sentence, WORDS)
