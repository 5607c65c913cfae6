"""Runs a model for natural language inference from a directory, on this machine's processor.

The directory holds what such models are published with: `model.onnx` (there or below `onnx/`),
`tokenizer.json`, and `config.json` with the labels in `id2label`. The packages onnxruntime,
tokenizers and numpy are loaded at the first pair.
"""

import json
import os
import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

from rooms.fragments.errors import ServiceError, no_package
from rooms.fragments.judging.question import LABELS, Scores, Verdict, of_scores
from rooms.fragments.judging.settings import VARIABLE, JudgeSettings

PACKAGES = ("onnxruntime", "tokenizers", "numpy")
_MODELS = ("model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx")
_MOST_TOKENS = 512
_QUIET = 3  # errors only: a server must not print


class _Loaded(NamedTuple):
    """A model. labels: of its outputs, in order. inputs: the names that it wants."""

    session: Any
    tokenizer: Any
    labels: Sequence[str]
    inputs: Sequence[str]


class OnnxJudge:
    """See `OneJudge`. Safe to use from several threads."""

    def __init__(self, settings: JudgeSettings) -> None:
        self._folder, self._guard = settings.place, threading.Lock()
        self._loaded: _Loaded | None = None

    def verdict(self, earlier: str, later: str) -> Verdict:
        """See `OneJudge`."""
        with self._guard:
            if self._loaded is None:
                self._loaded = _load(self._folder)
            loaded = self._loaded
        try:
            one_way, other_way = (
                _scores(loaded, *pair) for pair in ((earlier, later), (later, earlier))
            )
        except Exception:  # whatever the runtime raises; it may quote a text
            raise ServiceError("bad_answer", variable=VARIABLE) from None
        return of_scores(one_way, other_way)


def _load(folder: str) -> _Loaded:
    """Return the model of a directory. Raises ServiceError."""
    try:
        import numpy  # noqa: F401
        import onnxruntime
        import tokenizers
    except ImportError as error:
        raise no_package(VARIABLE, error.name or PACKAGES[0], *PACKAGES) from None
    path = next(filter(os.path.isfile, (os.path.join(folder, it) for it in _MODELS)), "")
    if not path:
        raise _unusable("model.onnx")
    labels = _labels(os.path.join(folder, "config.json"))
    try:
        tokenizer = tokenizers.Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
        tokenizer.no_padding()
        tokenizer.enable_truncation(_MOST_TOKENS)
    except Exception:  # the package raises its bare base class
        raise _unusable("tokenizer.json") from None
    options = onnxruntime.SessionOptions()
    options.log_severity_level = _QUIET
    try:
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception:  # each kind of damage has its own class
        raise _unusable("model.onnx") from None
    return _Loaded(session, tokenizer, labels, [it.name for it in session.get_inputs()])


def _labels(path: str) -> Sequence[str]:
    """Return the labels of the outputs, in order. Raises ServiceError."""
    try:
        with open(path, encoding="utf-8") as file:
            named = json.load(file)["id2label"]
        labels = [str(named[str(at)]).lower() for at in range(len(named))]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        raise _unusable("config.json") from None
    if sorted(labels) != sorted(LABELS):
        raise _unusable("config.json")
    return labels


def _scores(loaded: _Loaded, premise: str, hypothesis: str) -> Scores:
    """Return the scores by label. Raises whatever the runtime raises."""
    import numpy

    encoded = loaded.tokenizer.encode(premise, hypothesis)
    known = {
        "input_ids": encoded.ids,
        "attention_mask": encoded.attention_mask,
        "token_type_ids": encoded.type_ids,
    }
    given = {name: numpy.array([known[name]], dtype=numpy.int64) for name in loaded.inputs}
    [logits] = loaded.session.run(None, given)[0]
    powers = numpy.exp(logits - logits.max())
    scores = [float(score) for score in powers / powers.sum()]
    if not all(0 <= score <= 1 for score in scores):
        raise ValueError("no probabilities")
    return dict(zip(loaded.labels, scores, strict=True))


def _unusable(file: str) -> ServiceError:
    return ServiceError("no_model", variable=VARIABLE, file=file)
