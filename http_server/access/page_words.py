"""Holds what the page of consent says, in both languages."""

from functools import partial

from core.messages import Table, sentence

# fmt: off
WORDS: Table = {
    "title": ("Let a client in?", "클라이언트를 들여보낼까요?"),
    "wants": ("A client wants to use the memory of this server:", "클라이언트가 이 서버의 기억을 쓰려고 합니다."),
    "client": ("It calls itself", "스스로 밝힌 이름"),
    "nameless": ("(it gives no name)", "(이름 없음)"),
    "claims": ("Anyone can give any name. Go by the address below.", "이름은 누구나 마음대로 붙일 수 있습니다. 아래 주소를 확인하세요."),
    "back": ("You are sent back to", "돌아갈 주소"),
    "here": ("a program on this machine", "이 컴퓨터의 프로그램"),
    "server": ("Server", "서버"),
    "grants": ("It may", "허용할 일"),
    "granted": ("read, save, change and delete what the agent of your key may, until you remove the key",
        "키를 지울 때까지, 키의 에이전트가 할 수 있는 읽기, 저장, 수정, 삭제"),
    "unsure": ("If you did not just start to connect a client yourself, deny.", "방금 직접 클라이언트를 연결하던 중이 아니라면 거부하세요."),
    "key": ("Your key", "키"),
    "key_hint": ("From {command}, or from whoever runs this server.", "{command} 명령으로 만들거나 서버 운영자에게 받습니다."),
    "allow": ("Allow", "허용"),
    "deny": ("Deny", "거부"),
    "wrong_key": ("This key does not open this server. Nobody was let in. Check that you have copied all of it, and try again.",
        "이 서버에서 쓸 수 있는 키가 아닙니다. 아무도 들여보내지 않았습니다. 키 전체를 복사했는지 확인하고 다시 시도하세요."),
    "no_key_given": ("The key is missing. Nobody was let in. Paste your key, then allow.", "키가 비어 있습니다. 아무도 들여보내지 않았습니다. 키를 붙여 넣은 뒤 허용하세요."),
    "too_many": ("Too many wrong keys came from your network. Nobody was let in. Wait {wait_s} s, then try again.",
        "같은 네트워크에서 틀린 키가 너무 많이 들어왔습니다. 아무도 들여보내지 않았습니다. {wait_s}초 뒤에 다시 시도하세요."),
    "gone": ("This page is no longer valid: it was answered, is older than ten minutes, or was opened in another browser. Nobody was let in. Start the connection in your client again.",
        "더는 쓸 수 없는 페이지입니다. 이미 답했거나, 10분이 지났거나, 다른 브라우저에서 열었습니다. 아무도 들여보내지 않았습니다. 클라이언트에서 연결을 다시 시작하세요."),
    "unknown_client": ("This server does not know the client or the address it wants you sent to. Nobody was let in. Remove the server in your client, add it again, then connect.",
        "이 서버가 모르는 클라이언트이거나 모르는 돌아갈 주소입니다. 아무도 들여보내지 않았습니다. 클라이언트에서 서버를 지우고 다시 추가한 뒤 연결하세요."),
    "faulty_request": ("The client asked for something that this server does not give. Nobody was let in, and you were sent nowhere. Update the client, then connect again.",
        "클라이언트가 이 서버에서 줄 수 없는 것을 요청했습니다. 아무도 들여보내지 않았고, 다른 주소로 보내지도 않았습니다. 클라이언트를 업데이트한 뒤 다시 연결하세요."),
    "too_many_questions": ("Too many connections were begun from your network. Nobody was let in. Wait {wait_s} s, then start the connection in your client again.",
        "같은 네트워크에서 연결을 너무 많이 시작했습니다. 아무도 들여보내지 않았습니다. {wait_s}초 뒤에 클라이언트에서 연결을 다시 시작하세요."),
    "no_storage": ("The server cannot use its database at the moment. Nobody was let in. Wait a moment, then start the connection in your client again; whoever runs the server finds the reason in its log.",
        "서버가 지금 데이터베이스를 쓸 수 없습니다. 아무도 들여보내지 않았습니다. 잠시 뒤에 클라이언트에서 연결을 다시 시작하세요. 원인은 서버 로그에 있습니다."),
    "gone_title": ("Nobody was let in", "들여보내지 않았습니다"),
    "allowed": ("Allowed", "허용했습니다"),
    "denied": ("Denied", "거부했습니다"),
    "going_on": ("You are being sent back to the client. If nothing happens, follow this link; then you can close this page.",
        "클라이언트로 돌아가는 중입니다. 아무 일도 없으면 아래 링크를 누르세요. 그 뒤에는 이 페이지를 닫아도 됩니다."),
    "go_on": ("Back to the client", "클라이언트로 돌아가기"),
}
# fmt: on

word = partial(sentence, WORDS)
