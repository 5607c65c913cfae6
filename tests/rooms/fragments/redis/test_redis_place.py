"""Tests which Redis is meant by which settings, and what is refused."""

import pytest

from core.config import read_settings
from rooms.fragments.redis.engine import CachedEngine
from rooms.fragments.redis.place import Place, PlaceError, place_of
from rooms.fragments.room import open_room
from tests.support.sentences import in_language

ADDRESS = "SENTINEL_MEMORY_REDIS"


@pytest.mark.row("002 2.72")
def test_nothing_is_switched_on_by_names_that_others_use() -> None:
    assert place_of({}) is None
    assert place_of({"REDIS_HOST": "h", "REDIS_PASSWORD": "p"}) is None
    assert place_of({"REDIS_ENABLED": "false"}) is None


@pytest.mark.row("002 2.74.a")
def test_an_address_names_all() -> None:
    given = {ADDRESS: "rediss://me:p%40ss@h:7000/3?ssl_ca_certs=/ca.pem", "CACHE_DB_TTL": "60"}
    assert place_of(given) == Place(
        "h", 7000, 3, "me", "p@ss", uses_tls=True, certificates="/ca.pem", ttl_s=60
    )
    assert place_of({ADDRESS: "redis://[::1]"}) == Place("::1")


@pytest.mark.row(
    "002 2.72.a", "002 2.72.b", "002 2.72.c", "002 2.72.d", "002 2.73", "002 2.73.b", "002 2.74"
)
def test_the_specifications_names_name_all() -> None:
    given = {
        "REDIS_ENABLED": "true",
        "REDIS_HOST": "h",
        "REDIS_PORT": "7000",
        "REDIS_DB": "2",
        "REDIS_PASSWORD": "p",
        "CACHE_ENABLED": "false",
    }
    assert place_of(given) == Place("h", 7000, 2, password="p", keeps_answers=False)
    sentinel = given | {"REDIS_SENTINEL_ENABLED": "true", "REDIS_SENTINELS": "a:1, b"}
    made = place_of(sentinel)
    assert made and made.sentinels == (("a", 1), ("b", 26379))
    assert made.name == "redis+sentinel://mymaster/2"


@pytest.mark.row(
    "002 2.72.a",
    "002 2.72.b",
    "002 2.72.d",
    "002 2.73",
    "002 2.73.a",
    "002 2.73.b",
    "002 2.74",
    "002 2.74.a",
)
def test_what_is_left_out_is_as_the_specification_says_it() -> None:
    on = {"REDIS_ENABLED": "true"}
    made = place_of(on)
    assert made == Place("localhost", 6379, 0, password="", keeps_answers=True, ttl_s=300)
    watched = place_of(on | {"REDIS_SENTINEL_ENABLED": "true"})
    assert watched and watched.master == "mymaster"
    assert watched.sentinels == tuple(("localhost", port) for port in (26379, 26380, 26381))
    named = place_of(on | {"REDIS_SENTINEL_ENABLED": "true", "REDIS_MASTER_NAME": "memory"})
    assert named and named.master == "memory"


@pytest.mark.row("002 2.72.c")
def test_a_password_is_in_no_name_and_no_repr() -> None:
    made = place_of({ADDRESS: "redis://me:hunter2@h"})
    assert made
    assert "hunter2" not in made.name + repr(made)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        (ADDRESS, "http://h"),
        (ADDRESS, "redis://h:port"),
        (ADDRESS, "redis://h:0"),
        (ADDRESS, "redis://h/x"),
        (ADDRESS, "redis://"),
        (ADDRESS, "redis://hunter2@h?socket_timeout=99"),
        (ADDRESS, "redis://[hunter2"),
        ("REDIS_PORT", "70000"),
        ("REDIS_DB", "-1"),
        ("REDIS_SENTINELS", "h:x"),
        ("REDIS_TLS", "maybe"),
        ("CACHE_DB_TTL", "0"),
        ("CACHE_ENABLED", "hunter2"),
    ],
)
def test_what_cannot_be_used_is_refused_by_its_name_alone(variable: str, value: str) -> None:
    given = {"REDIS_ENABLED": "true", "REDIS_SENTINEL_ENABLED": "true", variable: value}
    with pytest.raises(PlaceError) as refused:
        place_of(given)
    for lang in ("en", "ko"):
        text = in_language(lang, str, refused.value)
        assert variable in text and "hunter2" not in text and value not in text.split()


@pytest.mark.row("002 2.72")
def test_a_room_has_a_layer_where_a_server_keeps_the_fragments_alone() -> None:
    on = {ADDRESS: "redis://127.0.0.1:1/0", "HOME": "/nowhere"}
    team = open_room(
        read_settings({}), on | {"SENTINEL_MEMORY_FRAGMENTS": "postgresql://u@127.0.0.1:1/x"}
    )
    assert isinstance(team.engine, CachedEngine)
    assert isinstance(team.for_agent("alice").engine, CachedEngine)
    own = open_room(read_settings({}), on | {"SENTINEL_MEMORY_FRAGMENTS": "/nowhere/memory.db"})
    assert not isinstance(own.engine, CachedEngine)
