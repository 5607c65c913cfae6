"""Holds what sample fragments say, in both languages, and how they are linked."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from rooms.fragments.kinds import Relation


class Told(NamedTuple):
    """What one sample says, and how it is special."""

    kind: str
    topic: str
    content: str
    keywords: tuple[str, ...] = ()
    special: Mapping[str, Any] = MappingProxyType({})


# fmt: off
TOLD = (
    Told("preference", "writing", "Keep commit subjects in the imperative and below 60 characters; say why in the body.", ("git", "commits"), {"is_anchor": True, "importance": 0.95, "access_count": 41}),
    Told("preference", "언어", "답은 한국어로, 코드와 주석은 영어로 쓴다. 존댓말은 해요체로.", ("한국어", "문체"), {"is_anchor": True, "importance": 0.9, "access_count": 120}),
    Told("error", "ci", "Builds on ARM runners fail with `exec format error`: the base image is pinned to the amd64 digest.", ("docker", "arm64", "runner"), {"access_count": 7}),
    Told("procedure", "ci", "Pin base images by the digest of the manifest list, never by that of one platform:\n`docker buildx imagetools inspect IMAGE` shows it.", ("docker", "arm64"), {"access_count": 9, "importance": 0.85}),
    Told("decision", "ci", "All services build with buildx on one cache; the old per-service scripts are gone.", ("docker",), {"privacy": "public"}),
    Told("error", "postgres", "`CREATE INDEX CONCURRENTLY` left an invalid index behind after a deadlock, and the planner ignored it for a week.", ("index", "deadlock"), {"importance": 0.9, "access_count": 3}),
    Told("procedure", "postgres", "After every concurrent index build, look for `indisvalid = false` and drop what is invalid before trying again.", ("index",), {"privacy": "team"}),
    Told("fact", "postgres", "The pool has 20 connections; the nightly report alone holds 12 of them for forty minutes.", ("pool", "report")),
    Told("fact", "postgres", "The pool has 40 connections since the move to the new cluster.", ("pool",), {"access_count": 2}),
    Told("error", "결제", "결제 승인 콜백이 두 번 오면 주문이 두 건 생긴다. 공급자가 재시도할 때마다 같은 키를 보낸다.", ("콜백", "멱등성"), {"importance": 0.92, "access_count": 14}),
    Told("procedure", "결제", "콜백은 멱등 키를 먼저 저장하고 나서 처리한다. 키가 이미 있으면 200으로 답하고 끝낸다.", ("멱등성",), {"access_count": 11}),
    Told("decision", "결제", "환불은 서버가 승인한 뒤에만 화면에 완료로 보여 준다.", ("환불",), {"privacy": "public"}),
    Told("relation", "architecture", "The price service reads from the catalogue's replica, not from its API; a schema change there breaks prices.", ("prices", "catalogue")),
    Told("fact", "clock", "Servers run in UTC, the warehouse in Europe/Berlin: its day ends at 22:00 or 23:00 of ours.", ("timezone", "warehouse"), {"importance": 0.6}),
    Told("fact", "tests", "Checkout tests fail on the last day of a month because a fixture adds 30 days.", ("fixtures", "flaky")),
    Told("fact", "task", "Half of the fixtures are moved; orders and refunds are left.", ("fixtures",), {"lifetime": "working", "session": "s1", "importance": 0.3}),
    Told("fact", "release", "The October release was delayed by the certificate of the mail gateway.", ("release",), {"lifetime": "episodic", "importance": 0.4, "tier": "warm"}),
    Told("decision", "api", "Errors of the public API follow RFC 9457; a `code` of ours is stable, its text is not.", ("errors", "api"), {"importance": 0.8, "access_count": 5}),
    Told("preference", "tools", "Use `uv` for Python environments, `ruff` for lint and format. No Makefile.", ("python",), {"access_count": 33}),
    Told("procedure", "release", "Tag on main, wait for the signed build, then `deploy promote`; the canary takes 30 minutes.", ("deploy", "canary"), {"tier": "cold"}),
)
LINKS: tuple[tuple[int, int, Relation], ...] = (
    (2, 3, "resolved_by"), (2, 4, "caused_by"), (3, 4, "part_of"),
    (5, 6, "resolved_by"), (7, 8, "superseded_by"), (7, 5, "related"),
    (9, 10, "resolved_by"), (10, 11, "related"), (11, 9, "caused_by"),
    (14, 13, "related"), (15, 14, "part_of"), (16, 19, "contradicts"),
)
# fmt: on
