"""Tests the loading and running of a model in a directory, on a tiny one that the test makes."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from rooms.fragments.errors import ServiceError
from rooms.fragments.models import missing
from rooms.fragments.models.judge import Judge, judge_of
from tests.support.sentences import in_language

WORDS = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "the", "port", "is", "open", "never", "indeed"]
LABELS = ["entailment", "neutral", "contradiction"]
WANTED = ["input_ids", "attention_mask", "token_type_ids"]


def made(folder: Path, labels: list[str] | None = None, inputs: list[str] | None = None) -> Path:
    """A model that hears `never` in a hypothesis as a contradiction, `indeed` as entailment."""
    reason = "it needs the packages of requirements-dev.txt"
    for package in ("numpy", "onnxruntime"):
        pytest.importorskip(package, reason=reason)
    onnx = pytest.importorskip("onnx", reason=reason)
    tokenizers = pytest.importorskip("tokenizers", reason=reason)
    helper, kinds = onnx.helper, onnx.TensorProto
    weights = [0.0] * len(WORDS) * 3
    weights[WORDS.index("[CLS]") * 3 + 1] = 1.0
    weights[WORDS.index("never") * 3 + 2] = 6.0
    weights[WORDS.index("indeed") * 3] = 6.0
    nodes = [
        helper.make_node("Gather", ["weights", "input_ids"], ["words"]),
        helper.make_node("Cast", ["token_type_ids"], ["second"], to=kinds.FLOAT),
        helper.make_node("Unsqueeze", ["second", "last"], ["column"]),
        helper.make_node("Mul", ["words", "column"], ["heard"]),
        helper.make_node("ReduceSum", ["heard", "middle"], ["logits"], keepdims=0),
    ]
    graph = helper.make_graph(
        nodes,
        "nli",
        [helper.make_tensor_value_info(it, kinds.INT64, [1, "n"]) for it in inputs or WANTED],
        [helper.make_tensor_value_info("logits", kinds.FLOAT, [1, 3])],
        [
            helper.make_tensor("weights", kinds.FLOAT, [len(WORDS), 3], weights),
            helper.make_tensor("last", kinds.INT64, [1], [2]),
            helper.make_tensor("middle", kinds.INT64, [1], [1]),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(model, str(folder / "model.onnx"))
    words = tokenizers.models.WordLevel({it: at for at, it in enumerate(WORDS)}, unk_token="[UNK]")
    tokenizer = tokenizers.Tokenizer(words)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 1), ("[SEP]", 2)],
    )
    tokenizer.enable_padding(length=64)
    tokenizer.save(str(folder / "tokenizer.json"))
    named = {str(at): it for at, it in enumerate(labels or LABELS)}
    (folder / "config.json").write_text(json.dumps({"id2label": named}))
    return folder


def judge(folder: Path) -> Judge:
    found = judge_of({"SENTINEL_MEMORY_JUDGE": f"onnx:{folder}"})
    assert found
    return found


@pytest.mark.long  # it costs much
@pytest.mark.row("002 2.62.b", "002 2.62.d")
def test_a_model_of_a_directory_judges_in_both_directions(tmp_path: Path) -> None:
    used = judge(made(tmp_path / "nli"))
    verdict = used.verdict("the port is never open", "never is the port open")
    assert (verdict.label, verdict.is_sure) == ("contradiction", True)
    verdict = used.verdict("the port is open", "the port is indeed open")
    assert (verdict.label, verdict.is_sure) == ("entailment", True)
    verdict = used.verdict("the port is open", "the port is never open")  # in one direction only
    assert (verdict.label, verdict.is_sure) == ("neutral", False)
    verdict = used.verdict("the port is open", "the port is open")
    assert (verdict.label, verdict.is_sure) == ("neutral", False)


def test_the_labels_of_a_model_stand_in_its_own_order(tmp_path: Path) -> None:
    used = judge(made(tmp_path / "nli", ["CONTRADICTION", "NEUTRAL", "ENTAILMENT"]))
    verdict = used.verdict("the port is never open", "never is the port open")
    assert (verdict.label, verdict.is_sure) == ("entailment", True)


@pytest.mark.long  # it costs much
def test_a_model_may_stand_below_onnx_and_a_text_be_longer_than_it_takes(tmp_path: Path) -> None:
    folder = made(tmp_path / "nli")
    (folder / "onnx").mkdir()
    (folder / "model.onnx").rename(folder / "onnx/model.onnx")
    verdict = judge(folder).verdict("never " * 2_000, "never " * 2_000)
    assert verdict.label == "contradiction"


def failure(folder: Path) -> ServiceError:
    with pytest.raises(ServiceError) as caught:
        judge(folder).verdict("the port is open", "the port is never open")
    assert str(folder) not in str(caught.value)
    return caught.value


def test_a_file_that_is_missing_or_broken_is_named(tmp_path: Path) -> None:
    wrong = list[Any]()
    for number, file in enumerate(("model.onnx", "tokenizer.json", "config.json")):
        for content in (None, b"", b"{}", b"\xff\xfe broken"):
            folder = made(tmp_path / f"nli{number}{content!r:.9}".replace("\\", ""))
            (folder / file).unlink()
            if content is not None:
                (folder / file).write_bytes(content)
            error = failure(folder)
            if (error.key, error.facts.get("file")) != ("no_model", file):
                wrong.append((file, content, error.key, error.facts))
    assert wrong == []


def test_labels_that_are_not_the_three_are_refused(tmp_path: Path) -> None:
    for number, labels in enumerate((["yes", "no", "maybe"], LABELS[:2], ["neutral"] * 3)):
        error = failure(made(tmp_path / f"nli{number}", labels))
        assert (error.key, error.facts["file"]) == ("no_model", "config.json")


def test_a_model_that_wants_what_no_tokenizer_gives_is_a_sentence(tmp_path: Path) -> None:
    assert failure(made(tmp_path / "nli", inputs=[*WANTED, "pixel_values"])).key == "bad_answer"


@pytest.mark.row("002 2.62.b")
def test_packages_and_directories_that_are_missing_are_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    error = failure(tmp_path)
    assert error.key == "no_package"
    command = f"`{sys.executable} -m pip install onnxruntime tokenizers numpy`"
    assert command in str(error) and command in in_language("ko", str, error)
    folder = tmp_path / "gone"
    named = [it.key for it in missing({"SENTINEL_MEMORY_JUDGE": f"onnx:{folder}"})]
    assert named[-1] == "no_model"
