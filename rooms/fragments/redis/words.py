"""Holds the sentences on the settings of Redis, in both languages."""

from core.messages import Table

# fmt: off
WORDS: Table = {
    "bad_redis": ("{variable} must be {expected}. Nothing was read or saved. Correct it, or remove it to work without Redis, then try again.",
        "{variable}에는 {expected}이(가) 와야 합니다. 읽거나 저장한 것은 없습니다. 값을 고치거나, 지워서 Redis 없이 쓰게 한 뒤 다시 시도하세요."),
    "expects_address": ("an address such as redis://127.0.0.1:6379/0, or rediss://:password@host/0?ssl_ca_certs=/path/of/ca.pem",
        "redis://127.0.0.1:6379/0 또는 rediss://:password@host/0?ssl_ca_certs=/path/of/ca.pem 같은 주소"),
    "expects_port": ("a port from 1 to 65535", "1에서 65535까지의 포트"),
    "expects_db": ("the number of a database from 0 to 999", "0에서 999까지의 데이터베이스 번호"),
    "expects_seconds": ("a whole number of seconds from 1 to 86400", "1에서 86400까지의 정수(초)"),
    "expects_switch": ("true or false", "true 또는 false"),
    "expects_sentinels": ("a list such as host1:26379,host2:26379", "host1:26379,host2:26379 같은 목록"),
}
# fmt: on
