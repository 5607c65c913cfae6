"""Tests which judges are asked of two texts, and which verdict counts."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rooms.fragments.errors import ServiceError
from rooms.fragments.models.judge import (
    RULE,
    SURE,
    ChatJudge,
    Judge,
    Verdict,
    answered,
    asked,
    check,
    judge_of,
    of_scores,
    read,
)
from tests.support.sentences import in_language
from tests.support.stand_in_service import Answer, Asked, StandIn, stand_in

SECRET = "ghp_" + "a1B2" * 9
KEY = "sk-" + "x9Y8" * 8
OLD, NEW = "The shop runs on port 8080", "The shop runs on port 9090"


def said(content: Any) -> Answer:
    """What a chat endpoint answers."""
    return Answer({"choices": [{"message": {"role": "assistant", "content": content}}]})


@pytest.fixture
def chat() -> Iterator[StandIn]:
    with stand_in(lambda _: said('{"label": "contradiction", "confidence": 0.93}')) as running:
        yield running


class Local:
    """A judge on this machine, such as a model in a directory. answer: what it comes to."""

    def __init__(self) -> None:
        self.answer: Verdict | ServiceError = of_scores(*[scores(0.95, 0.02)] * 2)
        self.asked = list[tuple[str, str]]()

    def verdict(self, earlier: str, later: str) -> Verdict:
        self.asked.append((earlier, later))
        if isinstance(self.answer, ServiceError):
            raise self.answer
        return self.answer


@pytest.fixture
def local() -> Local:
    return Local()


def both(local: Local, chat: StandIn) -> Judge:
    """The local one first, then the model at the address."""
    [settings] = read(environment_of("chat", chat))
    return Judge([local, ChatJudge(settings)])


def scores(contradiction: float, entailment: float) -> dict[str, float]:
    neutral = 1 - contradiction - entailment
    return {"contradiction": contradiction, "entailment": entailment, "neutral": neutral}


def environment_of(words: str, chat: StandIn) -> dict[str, str]:
    return {
        "SENTINEL_MEMORY_JUDGE": words,
        "SENTINEL_MEMORY_JUDGE_MODEL": "small",
        "SENTINEL_MEMORY_JUDGE_URL": f"{chat.address}/v1",
        "OPENAI_API_KEY": KEY,
    }


def judge(words: str, chat: StandIn) -> Judge:
    found = judge_of(environment_of(words, chat))
    assert found
    return found


@pytest.mark.row("002 2.86")
def test_nobody_judges_unless_the_settings_name_one() -> None:
    assert judge_of({}) is None
    assert judge_of({"OPENAI_API_KEY": KEY, "SENTINEL_MEMORY_JUDGE_URL": "https://x.test"}) is None


@pytest.mark.row("002 2.62.d")
def test_a_chat_model_gets_both_texts_as_data_behind_the_rule(chat: StandIn) -> None:
    assert judge("chat", chat).verdict(OLD, NEW) == Verdict("contradiction", 0.93)
    [request] = chat.asked
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body == {
        "model": "small",
        "messages": [
            {"role": "system", "content": RULE},
            {"role": "user", "content": f'{{"earlier": "{OLD}", "later": "{NEW}"}}'},
        ],
    }


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_text_leaves_its_place_in_the_question(earlier: str, later: str) -> None:
    import json

    question = asked(earlier, later)
    assert json.loads(question) == {"earlier": earlier, "later": later}
    assert "\n" not in question


@pytest.mark.row("002 2.75.e")
def test_secrets_are_taken_out_before_a_judge_sees_them(chat: StandIn, local: Local) -> None:
    local.answer = Verdict("neutral", 0.4)
    both(local, chat).verdict(f"the token is {SECRET}", f"no token but {SECRET}")
    sent = repr(local.asked) + repr(chat.bodies)
    assert SECRET not in sent
    assert sent.count("[REDACTED]") == 4


READ = [
    ('{"label": "neutral", "confidence": 0.4}', Verdict("neutral", 0.4)),
    ('```json\n{"label":"Contradiction","confidence":"0.9"}\n```', Verdict("contradiction", 0.9)),
    ('Sure! {"confidence": 85, "label": "entails"} Bye.', Verdict("entailment", 0.85)),
    ('{"label": "contradicts", "confidence": "90%"}', Verdict("contradiction", 0.9)),
    ('<think>{"label": "neutral"} or {x}?</think>{"label": "entailment", "confidence": 1}',
     Verdict("entailment", 1)),
    ('{"label": "contradiction"}', Verdict("contradiction", 0)),
    ('{"result": {"label": "neutral", "confidence": 0.8}}', Verdict("neutral", 0.8)),
    ("{" * 1_000 + '{"label": "neutral", "confidence": 1}', Verdict("neutral", 1)),
]  # fmt: skip


def test_an_answer_is_read_however_it_is_dressed() -> None:
    assert [(text, answered(text)) for text, _ in READ] == READ


def test_what_holds_no_verdict_is_no_answer(chat: StandIn) -> None:
    texts = ["", "contradiction", "{}", '{"label": 1}', '{"label": "maybe", "confidence": 1}']
    texts += ['{"label": "neutral", "confidence": NaN}', '{"label": "neutral", "confidence": -1}']
    texts += ['{"label": "neutral", "confidence": 101}', '{"label": "neutral", "confidence": "?"}']
    texts += ['{"label": "neutral", "confidence": null}', '{"label": ["neutral"]}', "{" * 5_000]
    wrong = list[Any]()
    contents: list[Any] = [*texts, None, 1, ["text"], [{"type": "text"}]]
    bodies: list[Any] = [{}, [], None, "text", {"choices": []}, {"choices": [None]}]
    answers = [*map(said, contents), *map(Answer, bodies)]
    used = judge("chat", chat)
    for answer in answers:
        chat.answer = lambda _, answer=answer: answer  # type: ignore[misc]
        try:
            wrong.append((answer, used.verdict(OLD, NEW)))
        except ServiceError as error:
            if error.key != "bad_answer":
                wrong.append((answer, error))
    assert wrong == []


def test_a_text_in_parts_is_read_as_one(chat: StandIn) -> None:
    text = '{"label": "entailment", "confidence": 0.9}'
    chat.answer = lambda _: said([{"type": "reasoning"}, {"type": "text", "text": text}])
    assert judge("chat", chat).verdict(OLD, NEW) == Verdict("entailment", 0.9)


def test_a_contradiction_holds_in_both_directions_and_entailment_in_one() -> None:
    sure, unsure = scores(0.9, 0.05), scores(0.1, 0.1)
    assert of_scores(sure, sure) == Verdict("contradiction", 0.9)
    assert of_scores(scores(0.02, 0.95), unsure) == Verdict("entailment", 0.95)
    assert of_scores(unsure, scores(0.02, 0.95)) == Verdict("entailment", 0.95)
    assert of_scores(sure, unsure).label == "neutral"
    assert of_scores(sure, scores(0.0, 0.95)).label == "entailment"
    assert of_scores(scores(0.99, 0.01), scores(0.1, 0.85)).label == "neutral"


@given(*(st.floats(0, 1) for _ in range(4)))
def test_a_model_alone_is_never_sure_that_two_texts_have_nothing_in_common(
    a: float, b: float, c: float, d: float
) -> None:
    verdict = of_scores(scores(a, (1 - a) * b), scores(c, (1 - c) * d))
    assert 0 <= verdict.confidence <= 1
    assert verdict.is_sure == (verdict.label != "neutral")
    swapped = of_scores(scores(c, (1 - c) * d), scores(a, (1 - a) * b))
    assert swapped.label == verdict.label


@pytest.mark.row("002 2.62.a", "002 2.62.c")
def test_the_next_judge_sees_only_what_the_first_was_unsure_of(chat: StandIn, local: Local) -> None:
    used = both(local, chat)
    assert used.verdict(OLD, NEW) == Verdict("contradiction", 0.95)
    local.answer = Verdict("entailment", 0.98)
    assert used.verdict(OLD, NEW).label == "entailment"
    assert chat.asked == []
    local.answer = Verdict("neutral", 0.79)
    assert used.verdict(OLD, NEW) == Verdict("contradiction", 0.93)
    assert len(chat.asked) == 1


@pytest.mark.row("002 2.62.c")
def test_an_unsure_verdict_waits_where_there_is_no_other_judge(local: Local) -> None:
    local.answer = of_scores(*[scores(0.1, 0.0)] * 2)
    verdict = Judge([local]).verdict(OLD, NEW)
    assert verdict.label == "neutral"
    assert 0.7 < verdict.confidence < SURE


def test_a_judge_that_fails_is_passed_over(chat: StandIn, local: Local) -> None:
    used = both(local, chat)
    local.answer = ServiceError("failed", variable="SENTINEL_MEMORY_JUDGE", status=500)
    assert used.verdict(OLD, NEW) == Verdict("contradiction", 0.93)
    assert used.failure and used.failure.key == "failed"
    assert used.verdict(OLD, NEW) == Verdict("contradiction", 0.93)
    assert (len(local.asked), len(chat.asked)) == (1, 2)  # left alone for a while


def test_an_unsure_verdict_is_kept_where_the_next_judge_fails(chat: StandIn, local: Local) -> None:
    local.answer = Verdict("neutral", 0.7)
    chat.answer = lambda _: Answer({}, 429, {"Retry-After": "60"})
    assert both(local, chat).verdict(OLD, NEW).label == "neutral"


def test_where_all_judges_fail_the_last_failure_is_said_without_the_texts(
    chat: StandIn, local: Local
) -> None:
    def echo(request: Asked) -> Answer:
        return Answer({"error": [request.body, dict(request.headers)]}, 401)

    local.answer = ServiceError("failed", variable="SENTINEL_MEMORY_JUDGE", status=503)
    chat.answer = echo
    with pytest.raises(ServiceError) as caught:
        both(local, chat).verdict(OLD, NEW)
    assert caught.value.key == "no_access"
    shown = str(caught.value) + in_language("ko", str, caught.value) + repr(caught.value)
    assert not any(secret in shown for secret in (KEY, OLD, NEW, chat.address))


def keys_of(words: str, **more: str) -> list[str]:
    return [error.key for error in check({"SENTINEL_MEMORY_JUDGE": words, **more})]


def test_settings_of_judges_that_cannot_work_are_refused_before_anything_is_asked() -> None:
    chat = {"SENTINEL_MEMORY_JUDGE_URL": "https://x.test", "SENTINEL_MEMORY_JUDGE_MODEL": "m"}
    for words in ("gpt", "onnx;chat", "onnx", "chat:gpt", "gemini:x", "gemini chat", "nli"):
        assert "bad_judge" in keys_of(words, **chat), words
    assert keys_of("") == []
    assert keys_of(" , ") == []
    assert keys_of("Gemini") == []
    assert keys_of("chat") == ["not_set", "not_set"]
    assert keys_of("chat", **chat) == []
    assert keys_of("chat", **{**chat, "SENTINEL_MEMORY_JUDGE_URL": "x.test"}) == ["bad_address"]
    open_line = {**chat, "SENTINEL_MEMORY_JUDGE_URL": "http://x.test", "OPENAI_API_KEY": KEY}
    assert keys_of("chat", **open_line) == ["open_key"]
    assert keys_of("onnx:models/nli") == ["bad_directory"]
    assert keys_of("onnx:") == ["bad_directory"]
    assert keys_of("onnx:/srv/models/nli") == []
    with pytest.raises(ServiceError):
        judge_of({"SENTINEL_MEMORY_JUDGE": "gpt"})


def test_no_judge_shows_its_address_or_key() -> None:
    environment = {
        "SENTINEL_MEMORY_JUDGE": "chat",
        "SENTINEL_MEMORY_JUDGE_URL": "https://models.example.test",
        "SENTINEL_MEMORY_JUDGE_MODEL": "m",
        "OPENAI_API_KEY": KEY,
    }
    assert repr(read(environment)) == "(JudgeSettings(chat),)"
