"""Tests that both editions of a document agree, and that Korean keeps its register and terms."""

import re

import pytest

from tests.support.documents import DOCUMENTS, EDITIONS, blocks, prose, text_of
from tests.support.rows import none_of

KOREAN = [name for name in DOCUMENTS if name.endswith(".ko.md")]
# A term that reads translated, and what a Korean engineer writes.
TERMS = {
    "격차": "빠진 정보, 재발",
    "가림 처리": "마스킹",
    "복제": "클론",
    "시연": "데모",
    "찌꺼기": "잔여",
    "망가진": "손상된",
    "무고한": "잘못 가린",
    "닮은 예": "유사 사례",
    "온 그대로": "받은 그대로",
    "되풀이하": "다시 실행",
    "스스로 말": "묻지 않아도 알려 줍니다",
    "견주": "비교",
    "어판": "버전, English:",
    "예전 판": "이전 버전",
    "(으)로": "로, 으로",
    "(이)": "이, 가",
    "을(를)": "을, 를",
}


# What reads translated: a word-for-word idiom, or a sentence without anybody who acts.
IDIOMS = re.compile(
    r"\b(?:stands? (?!alone)|stood\b|as (?:it|they) came\b|nobody is there\b|Missing then\b"
    r"|where it is valid\b|pass(?:es|ed)? over\b|speaks by itself|gives back what)"
)
ENGLISH = [
    name
    for name in DOCUMENTS
    if name.endswith(".md") and ".ko." not in name and name != "CHANGELOG.md"  # a history
]


@pytest.mark.parametrize("name", ENGLISH)
def test_english_has_no_translated_idiom(name: str) -> None:
    none_of(f"{name}: {found[0]}" for found in IDIOMS.finditer(prose(text_of(name))))


def typed(text: str, language: str) -> list[str]:
    """The lines of the blocks, without comments and the choice of a language."""
    lines = [line for block in blocks(text, language) for line in block.splitlines()]
    return [re.sub(r"SENTINEL_MEMORY_LANG=ko | +# .*", "", line) for line in lines]


@pytest.mark.parametrize("editions", EDITIONS, ids=[pair[0] for pair in EDITIONS])
def test_both_editions_have_the_same_parts_rows_commands_and_tests(editions: list[str]) -> None:
    english, korean = (text_of(name) for name in editions)
    for pattern in (r"^(#+) ", r"^(\|)", r"^( *[-*] |\d\. )"):
        shape = [re.findall(pattern, text, re.M) for text in (english, korean)]
        assert shape[0] == shape[1], pattern
    tests = [set(re.findall(r"test_\w+(?:\.py)?(?:::\w+)?", text)) for text in (english, korean)]
    assert tests[0] == tests[1]
    for language in ("sh", "powershell", "yaml", "toml"):
        assert typed(english, language) == typed(korean, language)


def figures(row: str) -> list[str]:
    row = row.replace("Ten ", "10 ").replace("twelve ", "12 ")
    return sorted(it.strip(",.") for it in re.findall(r"\d[\d,.]*", row))


@pytest.mark.parametrize("editions", EDITIONS, ids=[pair[0] for pair in EDITIONS])
def test_both_editions_have_the_same_figures_in_each_row(editions: list[str]) -> None:
    rows = re.compile(r"^(?:\||- ).*$", re.M)
    english, korean = (rows.findall(prose(text_of(name))) for name in editions)
    none_of(
        f"{editions[1]}: {theirs}"
        for ours, theirs in zip(english, korean, strict=True)
        if figures(ours) != figures(theirs)
    )


@pytest.mark.parametrize("name", KOREAN)
def test_korean_keeps_its_terms(name: str) -> None:
    text = prose(text_of(name))
    none_of(f"{name}: {term} -> {better}" for term, better in TERMS.items() if term in text)


@pytest.mark.long  # it costs much
@pytest.mark.parametrize("name", KOREAN)
def test_korean_keeps_its_register(name: str) -> None:
    """Users read 해요체 instructions and 합니다체 statements."""
    wrong = r"[^.\n]*십시오|[^.\n]*(?<!니)다[.](?=\s|$)"
    none_of(f"{name}: {it.strip()}" for it in re.findall(wrong, prose(text_of(name))))


@pytest.mark.parametrize(
    ("fact", "owner"),
    [
        ("- id: sentinel-memory-", "ci"),
        ('"mcpServers": {\n', "clients"),
        ("- `SENTINEL_MEMORY_BUDGET` (", "reference"),
        ("- `missing_context`: 1,024", "reference"),
    ],
)
def test_a_fact_has_one_owner_and_the_others_link_to_it(fact: str, owner: str) -> None:
    holding = {name for name in DOCUMENTS if fact in text_of(name)}
    assert holding == {f"docs/{owner}.md"}
