"""Tests who judges two texts: a chat model, the Gemini command line, a model in a directory."""

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rooms.fragments.fragment import ServiceError
from rooms.fragments.models import faults_in, find_missing, judge
from rooms.fragments.models.judge import Judge, OnnxJudge, Verdict, judge_of, verdict_of
from rooms.fragments.models.services import Service
from tests.support.sentences import in_language
from tests.support.servers import until
from tests.support.stand_in_service import KEY, SECRET, Answer, StandIn, failure, stand_in
from tests.support.tables import DATA, table

OLD, NEW = "The shop runs on port 8080", "The shop runs on port 9090"
TABLE = table("fragment_models")  # also answers of models, as they dress them
NAME = "SENTINEL_MEMORY_JUDGE"


def said(content: Any) -> dict[str, Any]:
    """The answer of a chat endpoint."""
    return {"choices": [{"message": {"role": "assistant", "content": content}}]}


@pytest.fixture
def chat() -> Iterator[StandIn]:
    with stand_in(lambda _: Answer()) as running:
        running.says(said('{"label": "contradiction", "confidence": 0.93}'))
        yield running


class Local:
    """A judge on this machine, such as a model in a directory. answer: its verdict or error."""

    def __init__(self, answer: Verdict | ServiceError) -> None:
        self.answer, self.asked = answer, list[tuple[str, str]]()

    def verdict(self, earlier: str, later: str) -> Verdict:
        self.asked.append((earlier, later))
        if isinstance(self.answer, ServiceError):
            raise self.answer
        return self.answer


@pytest.fixture
def local() -> Local:
    return Local(Verdict("contradiction", 0.95))


@pytest.fixture
def by_chat(chat: StandIn) -> Judge:
    """The judge of settings that name a chat model."""
    place = {NAME: "chat", f"{NAME}_MODEL": "small", f"{NAME}_URL": f"{chat.address}/v1"}
    found = judge_of({**place, "OPENAI_API_KEY": KEY})
    assert found
    return found


@pytest.fixture
def both(local: Local, chat: StandIn) -> Judge:
    """The local one first, then the model at the address."""
    service = Service(f"{chat.address}/v1/chat/completions", judge.CHAT_VARIABLE, KEY)
    return Judge([local, judge.ChatJudge(service, "small")])


@pytest.mark.row("002 2.62.d", "002 2.86")
def test_a_chat_model_gets_both_texts_as_data_behind_the_rule(
    chat: StandIn, by_chat: Judge
) -> None:
    assert by_chat.verdict(OLD, NEW) == Verdict("contradiction", 0.93)
    [request] = chat.asked
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    question = {"role": "user", "content": f'{{"earlier": "{OLD}", "later": "{NEW}"}}'}
    messages = [{"role": "system", "content": judge.PROMPT}, question]
    assert request.body == {"model": "small", "messages": messages}
    assert KEY not in repr(vars(by_chat)) and chat.address not in repr(vars(by_chat))
    assert judge_of({"OPENAI_API_KEY": KEY, f"{NAME}_URL": chat.address}) is None  # nobody is named
    assert failure(judge_of, {NAME: "gpt"}).key == "bad_judge"


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_text_leaves_its_place_in_the_question(earlier: str, later: str) -> None:
    question = judge.question_of(earlier, later)
    assert json.loads(question) == {"earlier": earlier, "later": later}
    assert "\n" not in question


@pytest.mark.row("002 2.75.e")
def test_secrets_are_taken_out_before_a_judge_sees_them(
    chat: StandIn, local: Local, both: Judge
) -> None:
    local.answer = Verdict("neutral", 0.4)
    both.verdict(f"the token is {SECRET}", f"no token but {SECRET}")
    sent = repr(local.asked) + repr(chat.bodies)
    assert (SECRET in sent, sent.count("[REDACTED]")) == (False, 4)


def test_a_verdict_is_read_however_it_is_dressed_and_an_answer_without_one_fails(
    chat: StandIn, by_chat: Judge
) -> None:
    read = {text: Verdict(label, confidence) for text, label, confidence in TABLE["verdicts"]}
    assert {text: judge.verdict_in(text) for text in read} == read
    first = next(iter(read))
    chat.says(said([{"type": "reasoning"}, {"type": "text", "text": first}]))
    assert by_chat.verdict(OLD, NEW) == read[first]
    bodies: list[Any] = [{}, [], None, "text", {"choices": []}, {"choices": [None]}]
    for body in (*map(said, TABLE["no verdicts"]), *bodies):
        chat.says(body)
        assert failure(by_chat.verdict, OLD, NEW).key == "bad_answer", body


def scores(contradiction: float, entailment: float) -> dict[str, float]:
    neutral = 1 - contradiction - entailment
    return {"contradiction": contradiction, "entailment": entailment, "neutral": neutral}


def test_a_contradiction_holds_in_both_directions_and_entailment_in_one() -> None:
    sure, unsure = scores(0.9, 0.05), scores(0.1, 0.1)
    assert verdict_of(sure, sure) == Verdict("contradiction", 0.9)
    assert verdict_of(scores(0.02, 0.95), unsure) == Verdict("entailment", 0.95)
    assert verdict_of(unsure, scores(0.02, 0.95)) == Verdict("entailment", 0.95)
    assert verdict_of(sure, unsure).label == "neutral"
    assert verdict_of(sure, scores(0.0, 0.95)).label == "entailment"
    assert verdict_of(scores(0.99, 0.01), scores(0.1, 0.85)).label == "neutral"
    assert 0.7 < verdict_of(*[scores(0.1, 0.0)] * 2).confidence < judge.SURE_CONFIDENCE


@given(*(st.floats(0, 1) for _ in range(4)))
def test_a_model_alone_is_never_sure_that_two_texts_have_nothing_in_common(
    a: float, b: float, c: float, d: float
) -> None:
    both_ways = scores(a, (1 - a) * b), scores(c, (1 - c) * d)
    verdict = verdict_of(*both_ways)
    assert 0 <= verdict.confidence <= 1
    assert verdict.is_sure == (verdict.label != "neutral")
    assert verdict_of(*both_ways[::-1]).label == verdict.label


@pytest.mark.row("002 2.62.a", "002 2.62.c")
def test_the_next_judge_sees_only_pairs_that_the_first_was_unsure_of(
    chat: StandIn, local: Local, both: Judge
) -> None:
    assert both.verdict(OLD, NEW) == Verdict("contradiction", 0.95)
    local.answer = Verdict("entailment", 0.98)
    assert both.verdict(OLD, NEW).label == "entailment" and chat.asked == []
    local.answer = Verdict("neutral", 0.79)
    assert Judge([local]).verdict(OLD, NEW) == local.answer  # where there is no other
    assert both.verdict(OLD, NEW) == Verdict("contradiction", 0.93) and len(chat.asked) == 1
    chat.says({}, 429)
    assert both.verdict(OLD, NEW) == local.answer


def test_a_judge_that_fails_is_left_alone_for_a_while_and_the_last_failure_says_no_text(
    chat: StandIn, local: Local, both: Judge
) -> None:
    local.answer = ServiceError("failed", variable=NAME, status=500)
    assert both.verdict(OLD, NEW) == both.verdict(OLD, NEW) == Verdict("contradiction", 0.93)
    assert both.failures == 2
    assert (len(local.asked), len(chat.asked)) == (1, 2)
    chat.answer = lambda it: Answer({"error": [it.body, dict(it.headers)]}, 401)
    error = failure(both.verdict, OLD, NEW)
    shown = str(error) + in_language("ko", str, error) + repr(error)
    assert error.key == "no_access"
    assert not any(secret in shown for secret in (KEY, OLD, NEW, chat.address))


TELLING = """
import json, os, sys
from pathlib import Path
given = sys.stdin.read()
settings = json.loads(Path(os.environ["GEMINI_CLI_SYSTEM_SETTINGS_PATH"]).read_text())
rule = Path(os.environ["GEMINI_SYSTEM_MD"]).read_text()
told = {"rule": rule, "arguments": sys.argv[1:], "given": given, "folder": os.getcwd(),
        "files": sorted(os.listdir()), "settings": settings,
        "rooms": os.environ["SENTINEL_MEMORY_ROOMS"]}
Path(TOLD).write_text(json.dumps(told))
print("Loaded cached credentials.")
print('{"label": "contradiction", "confidence": 0.9}')
"""
HANGING = """
import fcntl, os, subprocess, sys, time
told = open(TOLD, "a")
fcntl.flock(told, fcntl.LOCK_EX)
os.set_inheritable(told.fileno(), True)
command = [sys.executable, "-c", "import time; time.sleep(3600)"]
subprocess.Popen(command, close_fds=False)
print("it has begun", file=told, flush=True)
time.sleep(3600)
"""
Made = Callable[[str], str]


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """Makes a program `gemini` of this source and returns the directory that it is in."""

    def make(source: str) -> str:
        program = tmp_path / "bin" / "gemini"
        program.parent.mkdir(exist_ok=True)
        told = str(tmp_path / "told.json")
        program.write_text(f"#!{sys.executable}\nTOLD = {told!r}\n{source}")
        program.chmod(0o755)
        return str(program.parent)

    return make


def gemini(path: str, place: Path, timeout_s: float = 60) -> judge.GeminiJudge:
    """A judge for which every directory is private: those of a test are below one for all."""
    return judge.GeminiJudge(str(place), path, timeout_s, lambda _: True)


@pytest.mark.row("002 2.62.d", "002 2.76", "002 2.76.a")
def test_gemini_gets_the_texts_as_input_in_an_empty_directory_with_nothing_to_act_with(
    made: Made, tmp_path: Path
) -> None:
    later = "$(touch /tmp/x); `id` & \"quoted\" 'single' %PATH%\nnext line 결제"
    verdict = gemini(made(TELLING), tmp_path).verdict("earlier", later)
    assert verdict == Verdict("contradiction", 0.9)
    told: dict[str, Any] = json.loads((tmp_path / "told.json").read_text())
    folder, given = Path(told.pop("folder")), json.loads(told.pop("given"))
    assert folder.parent == tmp_path and not folder.exists()
    assert given == {"earlier": "earlier", "later": later}
    settings = {"tools": {"core": []}, "mcp": {"allowed": ["none"]}}
    assert told == {
        "arguments": ["--extensions", "none", "--allowed-mcp-server-names", "none"],
        "files": ["rule.md", "settings.json"],
        "rule": judge.PROMPT,
        "settings": {**settings, "hooksConfig": {"enabled": False}},
        "rooms": "lessons",
    }


@pytest.mark.row("002 2.76.a")
def test_gemini_is_not_started_where_others_could_put_their_settings(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def is_private(path: Path) -> bool:
        return judge.is_private(path, tmp_path)

    inner = tmp_path / "home/data"
    inner.mkdir(parents=True, mode=0o700)
    tmp_path.chmod(0o700)
    assert is_private(inner)
    monkeypatch.setenv("HOME", str(inner))
    used = judge.GeminiJudge(str(inner), made(TELLING), is_private=is_private)
    for mode in (0o770, 0o702, 0o1777):
        inner.parent.chmod(mode)
        assert not is_private(inner), oct(mode)
        assert failure(used.verdict, OLD, NEW).key == "no_private_place"
    assert not (tmp_path / "told.json").exists()


@pytest.mark.long  # it costs much
def test_a_program_that_fails_or_says_nothing_of_use_is_a_sentence(
    made: Made, tmp_path: Path
) -> None:
    broken = "import sys; sys.stdout.buffer.write(bytes([255, 254]))"
    for source, key in (
        ("import sys; print('{}'); sys.exit(41)", "program_failed"),
        *((it, "bad_answer") for it in ("print('I cannot.')", "print('x' * 1_000_000)", broken)),
    ):
        error = failure(gemini(made(source), tmp_path).verdict, OLD, NEW)
        assert (error.key, error.facts.get("status", 41)) == (key, 41)


def test_a_program_that_hangs_is_ended_with_its_own_programs(made: Made, tmp_path: Path) -> None:
    import fcntl

    told, path = tmp_path / "told.json", made(HANGING)
    for limit_s in (1.5, 6, 60):  # on a busy machine it has not started the other before
        assert failure(gemini(path, tmp_path, limit_s).verdict, OLD, NEW).key == "timeout"
        if told.exists() and told.read_text():
            break

    def is_let_go() -> bool:  # of the lock that both have
        with told.open("a") as file, suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        return False

    until(is_let_go)


def test_gemini_is_found_in_absolute_directories_of_the_path_only(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = made(TELLING)
    monkeypatch.chdir(folder)
    for path in ("", ".", os.pathsep, str(tmp_path)):
        assert judge.find_program(path) == "", path
    assert failure(gemini("", tmp_path).verdict, OLD, NEW).key == "no_program"
    path = os.pathsep.join((".", str(tmp_path), folder))
    assert judge.find_program(path) == f"{folder}/gemini"
    environment = {NAME: "gemini", "PATH": folder}
    assert find_missing(environment) == []
    os.chmod(f"{folder}/gemini", 0o644)
    assert judge.find_program(folder) == "" and faults_in(environment) == []
    assert [error.key for error in find_missing(environment)] == ["no_program"]


NLI = DATA / "nli"
LABELS = ["entailment", "neutral", "contradiction"]
FILES = ("model.onnx", "tokenizer.json", "config.json")


def model_in(folder: Path, labels: list[str] = LABELS, inputs: str = "") -> Path:
    """A model that hears `never` in a hypothesis as a contradiction, `indeed` as entailment.

    inputs: those that it wants beside the usual ones.
    """
    reason = "it needs the packages of requirements-dev.txt"
    for package in ("numpy", "onnxruntime", "tokenizers"):
        pytest.importorskip(package, reason=reason)
    parser = pytest.importorskip("onnx.parser", reason=reason)
    text = (NLI / "model.txt").read_text("utf-8").replace(") =>", f"{inputs}) =>")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(parser.parse_model(text).SerializeToString())
    shutil.copy(NLI / "tokenizer.json", folder)
    named = {str(at): it for at, it in enumerate(labels)}
    (folder / "config.json").write_text(json.dumps({"id2label": named}))
    return folder


@pytest.mark.row("002 2.62.b", "002 2.62.d")
def test_a_model_of_a_directory_judges_in_both_directions_with_its_own_labels(
    tmp_path: Path,
) -> None:
    folder = model_in(tmp_path / "nli")
    (folder / "onnx").mkdir()
    (folder / "model.onnx").rename(folder / "onnx/model.onnx")  # where some are published
    used = judge_of({NAME: f"onnx:{folder}"})
    assert used
    for earlier, later, label in (
        ("the port is never open", "never is the port open", "contradiction"),
        ("never " * 2_000, "never " * 2_000, "contradiction"),  # longer than it takes
        ("the port is open", "the port is indeed open", "entailment"),
        ("the port is open", "the port is never open", "neutral"),  # in one direction only
        ("the port is open", "the port is open", "neutral"),
    ):
        verdict = used.verdict(earlier, later)
        assert (verdict.label, verdict.is_sure) == (label, label != "neutral")
    turned = OnnxJudge(str(model_in(folder, [it.upper() for it in reversed(LABELS)])))
    assert turned.verdict("the port is never open", "never is the port open").label == "entailment"


def test_a_file_that_is_missing_or_broken_or_of_another_kind_is_named(tmp_path: Path) -> None:
    folder = model_in(tmp_path / "nli")
    others = [json.dumps({"id2label": it}).encode() for it in ({"0": "yes"}, {"0": "neutral"})]
    cases: list[tuple[str, bytes | None]] = [
        (file, it) for file in FILES for it in (None, b"", b"{}", b"\xff\xfe broken")
    ]
    for file, content in [*cases, *(("config.json", it) for it in others)]:
        whole = (folder / file).read_bytes()
        (folder / file).unlink()
        if content is not None:
            (folder / file).write_bytes(content)
        error = failure(OnnxJudge(str(folder)).verdict, OLD, NEW)
        assert (error.key, error.facts.get("file")) == ("no_model", file), content
        assert str(folder) not in str(error)
        (folder / file).write_bytes(whole)
    wants_more = model_in(tmp_path / "nli", inputs=", int64[1,n] pixel_values")
    assert failure(OnnxJudge(str(wants_more)).verdict, OLD, NEW).key == "bad_answer"


@pytest.mark.row("002 2.62.b")
def test_packages_and_directories_that_are_missing_are_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    error = failure(OnnxJudge(str(tmp_path)).verdict, OLD, NEW)
    command = f"`{sys.executable} -m pip install onnxruntime tokenizers numpy`"
    assert error.key == "no_package"
    assert command in str(error) and command in in_language("ko", str, error)
    named = [it.key for it in find_missing({NAME: f"onnx:{tmp_path / 'gone'}"})]
    assert named[-1] == "no_model"
