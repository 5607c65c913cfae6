"""Makes a memory as a team has it after half a year: many topics, two languages.

`python -m tests.support.team_memory FOLDER` makes it, for looking at what people are shown.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.lessons.record import Draft
from core.store import MemoryStore
from tests.support.git_clones import path_of
from tests.support.stdio_client import ROOT

LESSONS = ROOT / "benchmarks/lessons.jsonl"
PRINCIPLES = {
    ("payment", "payments-api"): Draft(
        type="principle",
        topic="payment",
        missing_context="",
        lesson="Store the idempotency key and a refund record before the provider is called. Verify"
        " webhooks on the unparsed body, handle each event id once, and read the state from the API"
        " instead of trusting the order of events. Convert amounts by the provider's exponent for"
        " that currency.",
        ask_next_time="Which provider, and which currencies?",
        paths=("src/payment/**",),
    ),
    ("결제", "결제-모듈"): Draft(
        type="principle",
        topic="결제",
        missing_context="",
        lesson="결제 완료는 리다이렉트가 아니라 서버가 확인한다. 주문 금액을 먼저 저장해 두고 승인"
        " 요청 전에 비교하며, 부가세는 한쪽만 계산해 총액에서 뺀다. 가상계좌는 '입금 대기'를 따로"
        " 두고 입금이 확인된 뒤에만 배송한다.",
        ask_next_time="가상계좌 입금 기한이 지나면 주문을 취소하나요, 다시 안내하나요?",
    ),
}


def make_team_memory(folder: Path) -> Path:
    """The project with its memory, in a new folder."""
    folder.mkdir(parents=True)
    log = path_of(folder)
    lessons = list(_lessons())
    for at, lesson in enumerate(lessons):
        _save(log, Draft(type="log", **lesson), date=_date(at))
    for at in (4, 4, 17, 4):
        _save(log, Draft(type="log", **lessons[at]), date=_date(54 + at % 5))
    for topics, principle in PRINCIPLES.items():
        merged = [it.token for it in MemoryStore(log).read().records if it.topic in topics]
        _save(log, principle, merged, date=_date(62))
    _save(log, Draft(type="log", **lessons[17]), date=_date(65))
    return folder


def _lessons() -> Iterator[dict[str, Any]]:
    for line in LESSONS.read_text(encoding="utf-8").splitlines():
        yield {"ask_next_time": "", **json.loads(line)}


def _date(at: int) -> str:
    """A working day of the half year before the summer of 2026; `at`: 0 to 65."""
    month, day = divmod(at * 2 + at // 3, 28)
    return f"2026-{month + 1:02}-{day + 1:02}T{9 + at % 8:02}:15:00+00:00"


def _save(log: Path, draft: Draft, replaced: list[str] | None = None, *, date: str) -> None:
    MemoryStore(log, now=lambda: date).upsert_log(draft, replaced or ())


if __name__ == "__main__":
    print(make_team_memory(Path(sys.argv[1])))
