"""Tests that the sentences keep one register and one word for each thing, in both languages."""

import re

from tests.support.said import sentences

STIFF = re.compile("십시오")
# What people read is said in these words, or in others that mean something else.
BANNED_KOREAN = re.compile(
    "격차|가림 처리|가린 (?:비밀|것)|복제|시연|찌꺼기|망가진|무고한|닮은 예|\\b온 그대로|되풀이하"
    "|기억이 스스로|사람도 봅니다|모델에 드는 비용|마지막 판|판입니다"
    "|낱말|이전 판|아주 지[우운]|대신된|모순될"
)
BANNED_ENGLISH = re.compile(
    r"\b(?:stands?|stood)\b|\bas (?:it|they) (?:came|was)\b|\bnobody is there\b|\bfrom a hand\b"
    r"|\bMissing then\b|\b1 unreadable lines\b|\bso that (?:it|they|there) (?:is|are)\b"
    r"|\bpass(?:es|ed)? over\b|\bleft alone\b|\bwhere it is valid\b"
)
# An instruction and a statement in one sentence: neither follows the other's ending.
MIXED = re.compile(r"(?:하세요|세요),? [^.\n]*(?:합니다|습니다|입니다)[.]")


def faults(language: str, pattern: re.Pattern[str]) -> list[tuple[str, str]]:
    texts = sentences(language).items()
    return [(key, found[0]) for key, text in texts for found in pattern.finditer(text)]


def test_korean_instructions_are_polite_without_ceremony() -> None:
    assert faults("ko", STIFF) == []
    assert any("하세요" in text for text in sentences("ko").values())


def test_no_korean_sentence_mixes_an_instruction_with_a_statement() -> None:
    assert faults("ko", MIXED) == []


def test_korean_has_one_word_for_each_thing() -> None:
    assert faults("ko", BANNED_KOREAN) == []


def test_english_says_what_is_and_who_does_it() -> None:
    assert faults("en", BANNED_ENGLISH) == []
