"""Sentences of the server over HTTP, in English and Korean."""

from functools import partial

from core.messages import sentence

# fmt: off
WORDS: dict[str, tuple[str, str]] = {
    # why the server does not start
    "only_with_http": ("{option}: it works only with --http. The server did not start. Add --http, or leave it out.",
        "{option}: --http와 함께 써야 합니다. 서버는 시작하지 않았습니다. --http를 더하거나 이 옵션을 빼세요."),
    "bad_port": ("{source}: a port is a whole number from 0 to 65535. The server did not start. Start it again with one: {server} --http {port}",
        "{source}: 포트는 0부터 65535까지의 정수입니다. 서버는 시작하지 않았습니다. 다시 시작하세요: {server} --http {port}"),
    "bad_url": ("--url: it must be https://NAME or https://NAME:PORT, without a path; http:// only for 127.0.0.1 and localhost. The server did not start. Give the address that clients use.",
        "--url: https://이름 또는 https://이름:포트 형식이어야 하고 경로는 없어야 합니다. http://는 127.0.0.1과 localhost에만 됩니다. 서버는 시작하지 않았습니다. 클라이언트가 쓰는 주소를 지정하세요."),
    "needs_url": ("--host {host}: others can reach this address, and their keys must not travel in the clear. The server did not start. Put a proxy with TLS before it and say where: {server} --http --host {host} --url https://memory.example",
        "--host {host}: 다른 컴퓨터에서 접속할 수 있는 주소라 키가 암호화되지 않은 채 오가면 안 됩니다. 서버는 시작하지 않았습니다. TLS를 쓰는 프록시를 앞에 두고 그 주소를 지정하세요: {server} --http --host {host} --url https://memory.example"),
    "open_to_others": ("--no-auth: it works only on 127.0.0.1 and without --url; elsewhere anybody could read the memory. The server did not start. Leave it out and make a key: {cli} door add NAME",
        "--no-auth: 127.0.0.1에서 --url 없이만 쓸 수 있습니다. 다른 곳에서는 누구나 기억을 읽을 수 있기 때문입니다. 서버는 시작하지 않았습니다. 이 옵션을 빼고 키를 만드세요: {cli} door add NAME"),
    "bad_origin": ("ALLOWED_ORIGINS: each must be like https://app.example, with commas between them; * is none. The server did not start. Correct the variable, or unset it.",
        "ALLOWED_ORIGINS: 쉼표로 구분한 https://app.example 형식이어야 합니다. *는 쓸 수 없습니다. 서버는 시작하지 않았습니다. 변수를 고치거나 지우세요."),
    "bad_ttl": ("SESSION_TTL_MINUTES: it must be a number above 0, at most {most}. The server did not start. Correct the variable, or unset it.",
        "SESSION_TTL_MINUTES: 0보다 크고 {most} 이하인 수여야 합니다. 서버는 시작하지 않았습니다. 변수를 고치거나 지우세요."),
    "needs_project": ("{rooms}: over HTTP these need a project, and none was named. The server did not start. Name it with --project DIR, or serve what needs none: {server} --http --rooms fragments",
        "{rooms}: HTTP로 제공하려면 프로젝트가 필요한데 지정되지 않았습니다. 서버는 시작하지 않았습니다. --project DIR로 지정하거나 프로젝트가 필요 없는 것만 제공하세요: {server} --http --rooms fragments"),
    "no_key": ("there is no key yet, so nobody could come in. The server did not start. Make one: {cli} door add NAME",
        "키가 아직 없어 아무도 접속할 수 없습니다. 서버는 시작하지 않았습니다. 키를 만드세요: {cli} door add NAME"),
    "port_taken": ("port {port} of {host} is taken by another program. The server did not start. Name another: {server} --http {other}",
        "{host}의 {port} 포트를 다른 프로그램이 쓰고 있습니다. 서버는 시작하지 않았습니다. 다른 포트를 지정하세요: {server} --http {other}"),
    "bad_host": ("--host {host}: the server cannot listen there ({reason}). It did not start. Leave the option out for 127.0.0.1, or name an address of this machine.",
        "--host {host}: 여기서는 접속을 받을 수 없습니다({reason}). 서버는 시작하지 않았습니다. 이 옵션을 빼서 127.0.0.1을 쓰거나 이 컴퓨터의 주소를 지정하세요."),
    "bad_log_dir": ("LOG_DIR: {path} cannot be written ({reason}). The server did not start. Name a directory that it may write, or unset the variable.",
        "LOG_DIR: {path}에 쓸 수 없습니다({reason}). 서버는 시작하지 않았습니다. 쓸 수 있는 디렉터리를 지정하거나 변수를 지우세요."),
    # what it says of itself
    "serving": ("{url} is served; rooms: {rooms}; fragments: {engine}; {entry}. Ctrl-C ends the server.",
        "{url}에서 제공 중입니다. 방: {rooms}, 조각: {engine}, {entry}. Ctrl-C로 끝냅니다."),
    "with_key": ("a key is needed", "키가 필요합니다"),
    "without_key": ("no key is needed on this machine", "이 컴퓨터에서는 키가 필요 없습니다"),
    "ending": ("the server ends; what is under way is answered first", "서버가 끝납니다. 진행 중인 요청에 먼저 응답합니다"),
    "failed_request": ("a request failed: {error}", "요청 처리에 실패했습니다: {error}"),
    "failed_step": ("a step of the upkeep failed and is tried again: {error}", "정리 단계가 실패해 다시 시도합니다: {error}"),
    # answers to a request
    "no_session": ("This session is unknown or has ended. Nothing was changed. Begin a new one with initialize.",
        "알 수 없거나 끝난 세션입니다. 바뀐 것은 없습니다. initialize로 새 세션을 시작하세요."),
    "no_stream": ("A stream needs a session. Nothing was changed. Send initialize first; answers come without a stream, too.",
        "스트림에는 세션이 필요합니다. 바뀐 것은 없습니다. 먼저 initialize를 보내세요. 응답은 스트림 없이도 옵니다."),
    "not_acceptable": ("A stream is text/event-stream, which this request does not accept. Nothing was changed. Send Accept: text/event-stream.",
        "스트림은 text/event-stream인데 이 요청은 받지 않는다고 합니다. 바뀐 것은 없습니다. Accept: text/event-stream을 보내세요."),
    "bad_json": ("The body is no JSON-RPC message that can be read. Nothing was changed. Send one JSON object as UTF-8.",
        "본문이 읽을 수 있는 JSON-RPC 메시지가 아닙니다. 바뀐 것은 없습니다. JSON 객체 하나를 UTF-8로 보내세요."),
    "too_large": ("The request is larger than {most:,} bytes. Nothing was changed. Send less at once.",
        "요청이 {most:,}바이트를 넘습니다. 바뀐 것은 없습니다. 한 번에 더 적게 보내세요."),
    "too_slow": ("The request did not arrive within {seconds} seconds. Nothing was changed. Send it again.",
        "요청이 {seconds}초 안에 다 오지 않았습니다. 바뀐 것은 없습니다. 다시 보내세요."),
    "too_busy": ("The server is busy. Nothing was changed. Try again in a moment.",
        "서버가 바쁩니다. 바뀐 것은 없습니다. 잠시 뒤에 다시 시도하세요."),
    "no_encoding": ("A compressed request is not taken. Nothing was changed. Send it without Content-Encoding.",
        "압축된 요청은 받지 않습니다. 바뀐 것은 없습니다. Content-Encoding 없이 보내세요."),
    "no_page": ("There is nothing at this address. Nothing was changed. MCP clients use /mcp.",
        "이 주소에는 아무것도 없습니다. 바뀐 것은 없습니다. MCP 클라이언트는 /mcp를 씁니다."),
    "no_method": ("This address does not take this method. Nothing was changed. The header Allow names those that it takes.",
        "이 주소는 이 메서드를 받지 않습니다. 바뀐 것은 없습니다. 받는 메서드는 Allow 헤더에 있습니다."),
    "wrong_host": ("The header Host names another server. Nothing was changed. Use the address that the server was started with.",
        "Host 헤더가 다른 서버를 가리킵니다. 바뀐 것은 없습니다. 서버를 시작할 때 지정한 주소를 쓰세요."),
    "wrong_origin": ("Pages of this origin may not call the server. Nothing was changed. An operator can name the origin in ALLOWED_ORIGINS.",
        "이 출처의 페이지는 서버를 호출할 수 없습니다. 바뀐 것은 없습니다. 운영자가 ALLOWED_ORIGINS에 출처를 지정할 수 있습니다."),
    "needs_key": ("This needs a key. Nothing was changed. Send the header Authorization: Bearer KEY.",
        "키가 필요합니다. 바뀐 것은 없습니다. Authorization: Bearer KEY 헤더를 보내세요."),
    "no_metrics": ("Metrics need the package prometheus-client, which is not installed. Nothing was changed. Install it: pip install 'prometheus-client>=0.20,<1'",
        "지표에는 prometheus-client 패키지가 필요한데 설치되어 있지 않습니다. 바뀐 것은 없습니다. 설치하세요: pip install 'prometheus-client>=0.20,<1'"),
    "failed": ("An unexpected error inside the server. A save in progress is either complete or not there at all. Search the memory to see which.",
        "서버 내부에서 예기치 않은 오류가 났습니다. 진행 중이던 저장은 전부 되었거나 전혀 되지 않았습니다. 검색해서 확인하세요."),
}
# fmt: on

say = partial(sentence, WORDS)
