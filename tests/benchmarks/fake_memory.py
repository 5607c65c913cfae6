"""Serves a memory for tests: JSON lines and raw JSON-RPC, honest or with one fault.

`python fake_memory.py FILE FAULT`: `forgets` acknowledges every second save without making it,
`refuses` answers every second save with an error, `strict` answers nothing once a line is no
JSON, `tidies` drops such lines when it saves, `tears` is strict and leaves the file torn, `mends`
first adds the lines of FILE.journal. Any other word is honest.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any


class Broken(Exception):
    """The tool answers with an error."""


def read(store: Path, fault: str) -> list[str]:
    """The lines that are JSON."""
    journal = Path(f"{store}.journal")
    if fault == "mends" and journal.exists():
        store.write_bytes(store.read_bytes() + journal.read_bytes())
        journal.unlink()
    good = []
    for line in store.read_text("utf-8", "replace").splitlines() if store.exists() else []:
        try:
            json.loads(line)
            good.append(line)
        except ValueError:
            if fault in ("strict", "tears"):
                raise Broken("a line is no JSON") from None
    return good


def save(store: Path, fault: str, text: str, turn: int) -> str:
    """Append a line in one write, unless the fault says otherwise."""
    good = read(store, fault)
    if turn % 2 and fault == "refuses":
        raise Broken("not now")
    if turn % 2 and fault == "forgets":
        return "saved"
    if fault == "tidies":
        store.write_text("".join(f"{line}\n" for line in good), "utf-8")
    descriptor = os.open(store, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(descriptor, json.dumps({"lesson": text}).encode() + b"\n")
    os.close(descriptor)
    if fault == "tears" and turn == 1:
        store.write_bytes(b"{torn")
    return "saved"


def answer(request: dict[str, Any], store: Path, fault: str, turn: int) -> dict[str, Any]:
    if request["method"] != "tools/call":
        return {"instructions": "Remember."}
    called = request["params"]
    try:
        if called["name"] == "save":
            text = save(store, fault, called["arguments"]["text"], turn)
        else:
            text = "\n".join(read(store, fault))
    except Broken as error:
        return {"content": [{"type": "text", "text": str(error)}], "isError": True}
    return {"content": [{"type": "text", "text": text}]}


def main() -> None:
    """Serve until standard input closes."""
    store, fault, turn = Path(sys.argv[1]), sys.argv[2], 0
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request:
            result = answer(request, store, fault, turn)
            turn += request["method"] == "tools/call"
            print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)


if __name__ == "__main__":
    main()
