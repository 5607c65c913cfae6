"""Tests which judges are asked of two texts, and which verdict counts."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rooms.fragments.judging.judge import Judge, judge_of
from rooms.fragments.judging.question import RULE, answered, asked
from rooms.fragments.judging.settings import check, read
from rooms.fragments.judging.verdict import SURE, Verdict, of_scores
from rooms.fragments.services.errors import ServiceError
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


@pytest.fixture
def nli() -> Iterator[StandIn]:
    with stand_in(lambda _: Answer(scores(0.95, 0.02))) as running:
        yield running


def scores(contradiction: float, entailment: float) -> dict[str, float]:
    neutral = 1 - contradiction - entailment
    return {"contradiction": contradiction, "entailment": entailment, "neutral": neutral}


def judge(words: str, chat: StandIn | None = None, nli: StandIn | None = None) -> Judge:
    environment = {"SENTINEL_MEMORY_JUDGE": words, "SENTINEL_MEMORY_JUDGE_MODEL": "small"}
    if chat:
        environment["SENTINEL_MEMORY_JUDGE_URL"] = f"{chat.address}/v1"
        environment["OPENAI_API_KEY"] = KEY
    if nli:
        environment["SENTINEL_MEMORY_NLI_URL"] = f"{nli.address}/classify"
    found = judge_of(environment)
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
def test_secrets_are_taken_out_before_a_judge_sees_them(chat: StandIn, nli: StandIn) -> None:
    nli.answer = lambda _: Answer(scores(0.4, 0.1))
    judge("nli,chat", chat, nli).verdict(f"the token is {SECRET}", f"no token but {SECRET}")
    sent = repr(nli.bodies) + repr(chat.bodies)
    assert SECRET not in sent
    assert sent.count("[REDACTED]") == 6


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


FORMS: list[Any] = [
    scores(0.9, 0.05),
    {"scores": scores(0.9, 0.05)},
    {"CONTRADICTION": 0.9, "Entailment": 0.05, "neutral": 0.05},
    [{"label": label, "score": score} for label, score in scores(0.9, 0.05).items()],
    [[{"label": label, "score": score} for label, score in scores(0.9, 0.05).items()]],
]


@pytest.mark.row("002 2.62.d")
def test_a_service_for_inference_is_asked_in_both_directions(nli: StandIn) -> None:
    used = judge("nli", nli=nli)
    for form in FORMS:
        nli.asked.clear()
        nli.answer = lambda _, form=form: Answer(form)  # type: ignore[misc]
        assert used.verdict(OLD, NEW) == Verdict("contradiction", 0.9)
        assert nli.bodies == [
            {"premise": OLD, "hypothesis": NEW},
            {"premise": NEW, "hypothesis": OLD},
        ]
    assert nli.asked[0].path == "/classify"


def test_scores_that_are_no_probabilities_are_refused(nli: StandIn) -> None:
    used = judge("nli", nli=nli)
    bad: list[Any] = [{}, [], None, 1, [[]], {"scores": None}, {"contradiction": 1}]
    bad += [{"contradiction": 4.2, "entailment": -1.0, "neutral": -2.2}, scores(0.9, 0.4)]
    bad += [{"contradiction": "1", "entailment": 0, "neutral": 0}]
    bad += [{"contradiction": 1, "entailment": 1, "neutral": 1}, [{"label": "neutral"}]]
    bad += [b'{"contradiction": NaN, "entailment": 0, "neutral": 0}']
    wrong = list[Any]()
    for form in bad:
        nli.answer = lambda _, form=form: Answer(form)  # type: ignore[misc]
        try:
            wrong.append((form, used.verdict(OLD, NEW)))
        except ServiceError as error:
            if error.key != "bad_answer":
                wrong.append((form, error))
    assert wrong == []


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
def test_the_next_judge_sees_only_what_the_first_was_unsure_of(chat: StandIn, nli: StandIn) -> None:
    used = judge("nli,chat", chat, nli)
    assert used.verdict(OLD, NEW) == Verdict("contradiction", 0.95)
    nli.answer = lambda _: Answer(scores(0.01, 0.98))
    assert used.verdict(OLD, NEW).label == "entailment"
    assert chat.asked == []
    nli.answer = lambda _: Answer(scores(0.1, 0.05))
    assert used.verdict(OLD, NEW) == Verdict("contradiction", 0.93)
    assert len(chat.asked) == 1


@pytest.mark.row("002 2.62.c")
def test_an_unsure_verdict_waits_where_there_is_no_other_judge(nli: StandIn) -> None:
    nli.answer = lambda _: Answer(scores(0.1, 0.0))
    verdict = judge("nli", nli=nli).verdict(OLD, NEW)
    assert verdict.label == "neutral"
    assert 0.7 < verdict.confidence < SURE


def test_a_judge_that_fails_is_passed_over(chat: StandIn, nli: StandIn) -> None:
    used = judge("nli,chat", chat, nli)
    nli.answer = lambda _: Answer({}, 500)
    assert used.verdict(OLD, NEW) == Verdict("contradiction", 0.93)
    assert used.failure and used.failure.key == "failed"
    assert used.verdict(OLD, NEW) == Verdict("contradiction", 0.93)
    assert (len(nli.asked), len(chat.asked)) == (1, 2)  # left alone for a while


def test_an_unsure_verdict_is_kept_where_the_next_judge_fails(chat: StandIn, nli: StandIn) -> None:
    nli.answer = lambda _: Answer(scores(0.3, 0.1))
    chat.answer = lambda _: Answer({}, 429, {"Retry-After": "60"})
    assert judge("nli,chat", chat, nli).verdict(OLD, NEW).label == "neutral"


def test_where_all_judges_fail_the_last_failure_is_said_without_the_texts(
    chat: StandIn, nli: StandIn
) -> None:
    def echo(request: Asked) -> Answer:
        return Answer({"error": [request.body, dict(request.headers)]}, 401)

    nli.answer = lambda _: Answer({}, 503)
    chat.answer = echo
    with pytest.raises(ServiceError) as caught:
        judge("nli,chat", chat, nli).verdict(OLD, NEW)
    assert caught.value.key == "no_access"
    shown = caught.value.text("en") + caught.value.text("ko") + repr(caught.value)
    assert not any(secret in shown for secret in (KEY, OLD, NEW, chat.address))


def keys_of(words: str, **more: str) -> list[str]:
    return [error.key for error in check({"SENTINEL_MEMORY_JUDGE": words, **more})]


def test_settings_of_judges_that_cannot_work_are_refused_before_anything_is_asked() -> None:
    chat = {"SENTINEL_MEMORY_JUDGE_URL": "https://x.test", "SENTINEL_MEMORY_JUDGE_MODEL": "m"}
    for words in ("gpt", "nli;chat", "onnx", "chat:gpt", "gemini:x", "nli chat"):
        assert "bad_judge" in keys_of(words, **chat), words
    assert keys_of("") == []
    assert keys_of(" , ") == []
    assert keys_of("Gemini") == []
    assert keys_of("chat") == ["not_set", "not_set"]
    assert keys_of("chat", **chat) == []
    assert keys_of("chat", **{**chat, "SENTINEL_MEMORY_JUDGE_URL": "x.test"}) == ["bad_address"]
    open_line = {**chat, "SENTINEL_MEMORY_JUDGE_URL": "http://x.test", "OPENAI_API_KEY": KEY}
    assert keys_of("chat", **open_line) == ["open_key"]
    assert keys_of("nli") == ["not_set"]
    assert keys_of("nli", SENTINEL_MEMORY_NLI_URL="nli.local/x") == ["bad_address"]
    open_nli = {"SENTINEL_MEMORY_NLI_URL": "http://nli.example.test", "OPENAI_API_KEY": KEY}
    assert keys_of("nli", **open_nli) == []  # it gets no key
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
