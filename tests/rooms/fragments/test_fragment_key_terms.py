"""Tests the keywords that a text has where none were given."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rooms.fragments.fragment import KEYWORD_CHARS, plain_keyword
from rooms.fragments.key_terms import MOST, keywords_of

# fmt: off
TEXTS = [
    ("Redis Sentinel 연결 실패 시 REDIS_PASSWORD 환경변수 누락을 먼저 확인할 것. NOAUTH 오류다.",
        ("Redis", "Sentinel", "연결", "실패", "REDIS_PASSWORD", "환경변수", "누락", "NOAUTH")),
    ("이 프로젝트는 Node.js 20을 쓴다", ("프로젝트", "Node.js")),
    ("pg는 ssl:false 없이 로컬 연결 실패", ("pg", "ssl", "false", "로컬", "연결", "실패")),
    ("auth 모듈은 redis에 의존한다", ("auth", "모듈", "redis", "의존")),
    ("Use pnpm instead of npm in the monorepo, never yarn.", ("pnpm", "npm", "monorepo", "yarn")),
    ("Database 연결은 core/db.py의 open_pool()에서만 한다",
        ("Database", "연결", "core/db.py", "open_pool")),
    ("C++ and C# and API v2 use UTF-8", ("C++", "C#", "API", "v2", "UTF-8")),
    ("データベースの接続に失敗した", ("データベース", "接続", "失敗")),
    ("배포할 때는 반드시 서버를 먼저 내리고, 마이그레이션을 실행한 다음 다시 올려야 합니다.",
        ("배포", "서버", "마이그레이션", "실행")),
    ("다른 값은 엣지에서 400이 난다. URL을 직접 조립하지 않고, 늦게 들어온다는 점을 적는다.",
        ("엣지", "URL", "조립")),
    ("화면 권한, 역할, 이미지와 메시지를 지우거나 바꾸면 안 된다",
        ("화면", "권한", "역할", "이미지", "메시지")),
    ("키를 보내지 않아 두 번 결제했다. 이미지 없는 메시지를 언제 옮길까?",
        ("결제", "이미지", "메시지")),
    ("재고는 락으로 줄인다. 값이 사라져 에러가 났는데 한 번만 났다",
        ("재고", "값이", "에러")),
    ("알림은 메일이 아니라 슬랙이고 SMS는 쓰지 못한다", ("알림", "메일", "슬랙", "SMS")),
    ("a migration, the migrations and their Migration", ("migration",)),
    ("[REDACTED] is what it was", ()),
    ("", ()),
]
# fmt: on


@pytest.mark.row("002 2.34")
def test_the_keywords_of_a_text_are_its_names_and_nouns() -> None:
    assert {text: keywords_of(text) for text, _ in TEXTS} == dict(TEXTS)


def test_names_come_before_words_and_all_stand_in_the_order_of_the_text() -> None:
    words = "alpha bravo charlie delta echo foxtrot golf hotel india juliett MAX_SIZE"
    assert keywords_of(words)[-1] == "MAX_SIZE"
    assert len(keywords_of(words)) == MOST


@pytest.mark.long  # it costs much
@given(st.text())
def test_any_text_has_few_keywords_that_differ(text: str) -> None:
    found = keywords_of(text)
    assert len(found) <= MOST
    assert all(1 < len(it) <= KEYWORD_CHARS for it in found)
    assert len({plain_keyword(it) for it in found}) == len(found)


@pytest.mark.long
@pytest.mark.parametrize("piece", ["a-", "a_", "A", "가", "가 ", "x.", "ア", "를", "漢"])
def test_a_text_at_its_limit_takes_no_time(piece: str) -> None:
    start = time.process_time()
    keywords_of(piece * (10_000 // len(piece)))
    assert time.process_time() - start < 5
