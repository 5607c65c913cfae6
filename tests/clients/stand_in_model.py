"""A model that follows a script, on loopback: it speaks the forms of Anthropic, OpenAI and Gemini.

It keeps every request, so that a test can say what a model would have read. It is a proxy as well:
what a client wants of any other host is refused and kept, too.
"""

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Self

Json = dict[str, Any]
Given = Mapping[str, Any]
Events = list[tuple[str, Json]]  # names of server-sent events, "" for none, with their data


class Tool(NamedTuple):
    """A tool that a client offers. space: the group it stands in, where a call names that, too."""

    name: str
    space: str = ""


class Call(NamedTuple):
    """A step of a script: call the offered tool whose name ends with this."""

    tool: str
    given: Given


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
    """What a client has sent to a model; a class below this one for each form."""

    def __init__(self, body: Json) -> None:
        self.body = body

    @property
    def text(self) -> str:
        """Every text in it."""
        return "\n".join(texts_in(self.body))

    @property
    def answers(self) -> list[str]:
        """What tools have answered so far."""
        return ["\n".join(texts_in(answer)) for answer in self._answers()]

    @property
    def tools(self) -> list[Tool]:
        """The tools that the client offers."""
        raise NotImplementedError

    @property
    def turn(self) -> int:
        """How many steps of the script the model has taken."""
        raise NotImplementedError

    def _answers(self) -> list[Any]:
        raise NotImplementedError

    def call(self, tool: Tool, given: Given) -> Events:
        """Return the events of an answer that calls a tool."""
        raise NotImplementedError

    def say(self, text: str) -> Events:
        """Return the events of an answer that is a text."""
        raise NotImplementedError


class AnthropicRequest(Request):
    """The Messages form, of Claude Code and Copilot CLI."""

    @property
    def tools(self) -> list[Tool]:
        return [Tool(tool["name"]) for tool in self.body.get("tools", [])]

    @property
    def turn(self) -> int:
        return len(self._parts("assistant", "tool_use", "text"))

    def _answers(self) -> list[Any]:
        return [part["content"] for part in self._parts("user", "tool_result")]

    def _parts(self, role: str, *kinds: str) -> list[Json]:
        return [
            part
            for message in self.body["messages"]
            if message["role"] == role and isinstance(message["content"], list)
            for part in message["content"]
            if part["type"] in kinds
        ]

    def call(self, tool: Tool, given: Given) -> Events:
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

    @property
    def tools(self) -> list[Tool]:
        found = []
        for tool in self.body["tools"]:
            space = tool["name"] if tool["type"] == "namespace" else ""
            inner = tool["tools"] if space else [tool]
            found += [Tool(one["name"], space) for one in inner if "name" in one]
        return found

    @property
    def turn(self) -> int:
        spoken = [item for item in self._items("message") if item["role"] == "assistant"]
        return len(spoken) + len(self._items("function_call"))

    def _answers(self) -> list[Any]:
        return [item["output"] for item in self._items("function_call_output")]

    def _items(self, kind: str) -> list[Json]:
        return [item for item in self.body["input"] if item["type"] == kind]

    def call(self, tool: Tool, given: Given) -> Events:
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

    @property
    def tools(self) -> list[Tool]:
        groups = [group["functionDeclarations"] for group in self.body.get("tools", [])]
        return [Tool(tool["name"]) for group in groups for tool in group]

    @property
    def turn(self) -> int:
        return len(self._parts("model", "functionCall", "text"))

    def _answers(self) -> list[Any]:
        return [part["functionResponse"] for part in self._parts("user", "functionResponse")]

    def _parts(self, role: str, *keys: str) -> list[Json]:
        return [
            part
            for content in self.body["contents"]
            if content["role"] == role
            for part in content["parts"]
            if any(key in part for key in keys)
        ]

    def call(self, tool: Tool, given: Given) -> Events:
        return self._events({"functionCall": {"name": tool.name, "args": given}})

    def say(self, text: str) -> Events:
        return self._events({"text": text})

    def _events(self, part: Json) -> Events:
        content = {"role": "model", "parts": [part]}
        candidate = {"content": content, "finishReason": "STOP", "index": 0}
        usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
        return [("", {"candidates": [candidate], "usageMetadata": usage})]


FORMS: dict[str, type[Request]] = {
    "/messages": AnthropicRequest,
    "/responses": OpenAIRequest,
    ":streamGenerateContent": GeminiRequest,
}


class StandInModel(ThreadingHTTPServer):
    """Answers on a port of its own as long as a `with` lasts.

    requests: those that offer tools; what is asked without any, such as a title, is answered "ok"
    and is no step of the script. elsewhere: the other hosts that a client wanted to reach.
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
        events = self.server.answer(form(json.loads(body)))
        lines = [
            f"event: {name}\n" * bool(name) + f"data: {json.dumps(data)}\n\n"
            for name, data in events
        ]
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
