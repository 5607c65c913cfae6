"""A model that follows a script, on loopback: it speaks the forms of Anthropic, OpenAI and Gemini.

It keeps every request, so that a test can check the texts that a model would have read. It is a
proxy as well: requests to any other host are refused and kept, too.
"""

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Self

Json = dict[str, Any]
Events = list[tuple[str, Json]]  # names of server-sent events, "" for none, with their data


class Tool(NamedTuple):
    """A tool that a client offers. space: the group it stands in, where a call names that, too."""

    name: str
    space: str = ""


class Call(NamedTuple):
    """A step of a script: call the offered tool whose name ends with this."""

    tool: str
    given: Mapping[str, Any]


class Say(NamedTuple):
    """A step of a script: say this, which ends a turn."""

    text: str


Step = Call | Say
Script = Sequence[Step | Callable[[str], Step]]  # a function gets the answer of the last tool


def texts_in(value: Any) -> Iterator[str]:
    """Yield the texts in a value of JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from texts_in(part)


class Request:
    """A request of a client to a model; a class below this one for each form.

    tools: those that the client offers. turn: how many steps of the script the model has taken.
    answers: the answers of tools so far.
    """

    def __init__(self, body: Json, tools: list[Tool], turn: int, answers: list[Any]) -> None:
        self.body, self.tools, self.turn = body, tools, turn
        self.text = "\n".join(texts_in(body))
        self.answers = ["\n".join(texts_in(answer)) for answer in answers]

    def call(self, tool: Tool, given: Mapping[str, Any]) -> Events:
        """Return the events of an answer that calls a tool."""
        raise NotImplementedError

    def say(self, text: str) -> Events:
        """Return the events of an answer that is a text."""
        raise NotImplementedError


class AnthropicRequest(Request):
    """The Messages form, of Claude Code and Copilot CLI."""

    def __init__(self, body: Json) -> None:
        parts = [
            (f"{message['role']} {part['type']}", part)
            for message in body["messages"]
            if isinstance(message["content"], list)
            for part in message["content"]
        ]
        tools = [Tool(tool["name"]) for tool in body.get("tools", [])]
        turn = sum(kind in ("assistant tool_use", "assistant text") for kind, _ in parts)
        answers = [part["content"] for kind, part in parts if kind == "user tool_result"]
        super().__init__(body, tools, turn, answers)

    def call(self, tool: Tool, given: Mapping[str, Any]) -> Events:
        block = {"type": "tool_use", "id": f"toolu_{self.turn}", "name": tool.name, "input": {}}
        piece = {"type": "input_json_delta", "partial_json": json.dumps(given)}
        return self._events(block, piece, "tool_use")

    def say(self, text: str) -> Events:
        piece = {"type": "text_delta", "text": text}
        return self._events({"type": "text", "text": ""}, piece, "end_turn")

    def _events(self, block: Json, piece: Json, reason: str) -> Events:
        usage = {"input_tokens": 10, "output_tokens": 5}
        message: Json = {"id": f"msg_{self.turn}", "type": "message", "role": "assistant"}
        message |= {"model": self.body["model"], "content": [], "usage": usage}
        events: Events = [
            ("message_start", {"message": message}),
            ("content_block_start", {"index": 0, "content_block": block}),
            ("content_block_delta", {"index": 0, "delta": piece}),
            ("content_block_stop", {"index": 0}),
            ("message_delta", {"delta": {"stop_reason": reason}, "usage": usage}),
            ("message_stop", {}),
        ]
        return [(name, {"type": name, **data}) for name, data in events]


class OpenAIRequest(Request):
    """The Responses form, of Codex."""

    def __init__(self, body: Json) -> None:
        items = [(item["type"], item) for item in body["input"]]
        said = [it for kind, it in items if kind == "message" and it["role"] == "assistant"]
        calls = [it for kind, it in items if kind == "function_call"]
        answers = [it["output"] for kind, it in items if kind == "function_call_output"]
        tools = []
        for tool in body["tools"]:
            space = tool["name"] if tool["type"] == "namespace" else ""
            inner = tool["tools"] if space else [tool]
            tools += [Tool(it["name"], space) for it in inner if "name" in it]
        super().__init__(body, tools, len(said) + len(calls), answers)

    def call(self, tool: Tool, given: Mapping[str, Any]) -> Events:
        item = {"type": "function_call", "call_id": f"call_{self.turn}", "name": tool.name}
        space = {"namespace": tool.space} if tool.space else {}
        return self._events({**item, **space, "arguments": json.dumps(given)})

    def say(self, text: str) -> Events:
        content = [{"type": "output_text", "text": text, "annotations": []}]
        return self._events({"type": "message", "role": "assistant", "content": content})

    def _events(self, item: Json) -> Events:
        answer = {"id": f"resp_{self.turn}"}
        usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
        done = {"id": f"item_{self.turn}", "status": "completed", **item}
        events: Events = [
            ("response.created", {"response": answer}),
            ("response.output_item.done", {"output_index": 0, "item": done}),
            ("response.completed", {"response": {**answer, "usage": usage}}),
        ]
        return [(name, {"type": name, **data}) for name, data in events]


class GeminiRequest(Request):
    """The form of Gemini CLI."""

    def __init__(self, body: Json) -> None:
        parts = [(it["role"], part) for it in body["contents"] for part in it["parts"]]
        groups = [group.get("functionDeclarations", []) for group in body.get("tools", [])]
        tools = [Tool(tool["name"]) for group in groups for tool in group]
        steps = [it for role, it in parts if role == "model" and {"functionCall", "text"} & {*it}]
        answers = [it["functionResponse"] for _, it in parts if "functionResponse" in it]
        super().__init__(body, tools, len(steps), answers)

    def call(self, tool: Tool, given: Mapping[str, Any]) -> Events:
        return self._events({"functionCall": {"name": tool.name, "args": given}})

    def say(self, text: str) -> Events:
        return self._events({"text": text})

    def _events(self, part: Json) -> Events:
        content = {"role": "model", "parts": [part]}
        candidate = {"content": content, "finishReason": "STOP", "index": 0}
        usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
        return [("", {"candidates": [candidate], "usageMetadata": usage})]


FORMS: dict[str, Callable[[Json], Request]] = {
    "/messages": AnthropicRequest,
    "/responses": OpenAIRequest,
    ":streamGenerateContent": GeminiRequest,
}


class StandInModel(ThreadingHTTPServer):
    """Answers on a port of its own as long as a `with` lasts.

    requests: those that offer tools; one without any, such as for a title, is answered "ok" and
    is no step of the script. elsewhere: the other hosts that a client wanted to reach.
    """

    daemon_threads = True

    def __init__(self, script: Script) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.script = script
        self.requests: list[Request] = []
        self.elsewhere: list[str] = []

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()

    def answer(self, request: Request) -> Events:
        """Return the next step of the script in the form of the request."""
        if not request.tools:
            return request.say("ok")
        self.requests.append(request)
        step = self.script[request.turn] if request.turn < len(self.script) else Say("Done.")
        if not isinstance(step, Call | Say):
            step = step(request.answers[-1])
        if isinstance(step, Say):
            return request.say(step.text)
        word = re.compile(rf"(?<![a-z]){re.escape(step.tool)}$")  # pin is no end of unpin
        named = [tool for tool in request.tools if word.search(tool.name)]
        return request.call(named[0] if named else Tool(step.tool), step.given)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: StandInModel

    def do_GET(self) -> None:
        if "://" in self.path:
            return self.do_CONNECT()
        self._send("application/json", b'{"data": [], "models": []}')

    def do_CONNECT(self) -> None:
        self.server.elsewhere.append(self.path)
        self.send_error(403)

    def do_POST(self) -> None:
        body = self._body()
        path = self.path.partition("?")[0]
        form = next((FORMS[end] for end in FORMS if path.endswith(end)), None)
        if form is None:  # a count of tokens, for example
            return self._send("application/json", b'{"input_tokens": 10, "totalTokens": 10}')
        lines = []
        for name, data in self.server.answer(form(json.loads(body))):
            lines += [f"event: {name}\n"] if name else []
            lines += [f"data: {json.dumps(data)}\n\n"]
        self._send("text/event-stream", "".join(lines).encode())

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("content-length", 0)))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _send(self, kind: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing."""
