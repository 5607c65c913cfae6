"""Embeds on this machine with the package fastembed, which is loaded at the first call."""

import math
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

from rooms.fragments.embeddings.settings import VARIABLE, EmbeddingSettings
from rooms.fragments.errors import ServiceError, no_package


class LocalModel:
    """A source of embeddings in this process. Safe to use from several threads."""

    def __init__(self, settings: EmbeddingSettings) -> None:
        self._settings = settings
        self._guard, self._turn = threading.Lock(), threading.Lock()
        self._model: Future[Any] | None = None

    def numbers(self, texts: Sequence[str], timeout_s: float) -> list[Sequence[object]]:
        """Return the numbers of each text, in order. Raises ServiceError.

        timeout_s: how long a model is waited for that is being fetched, loaded or used; it goes on
        being loaded for the next call.
        """
        try:
            model = self._loading().result(timeout_s)
        except TimeoutError:
            raise _too_slow(timeout_s) from None
        if not self._turn.acquire(timeout=timeout_s):
            raise _too_slow(timeout_s)
        try:
            return [array.tolist() for array in model.embed(list(texts))]
        except Exception:  # whatever the runtime of the model raises; it may quote a text
            raise ServiceError("bad_answer", variable=VARIABLE) from None
        finally:
            self._turn.release()

    def _loading(self) -> Future[Any]:
        """Return the model that is loaded, or being loaded; one that failed is tried again."""
        with self._guard:
            model = self._model
            if model is None or (model.done() and model.exception()):
                model = self._model = Future()
                load = threading.Thread(target=self._load, args=(model,), daemon=True)
                load.start()
            return model

    def _load(self, model: Future[Any]) -> None:
        try:
            model.set_result(_loaded(self._settings))
        except ServiceError as error:
            model.set_exception(error)


def _loaded(settings: EmbeddingSettings) -> Any:
    try:
        import fastembed
    except ImportError:
        raise no_package(VARIABLE, "fastembed") from None
    try:
        return fastembed.TextEmbedding(settings.model, cache_dir=settings.folder or None)
    except Exception:  # an unknown name, no network, a broken file: each raises its own
        raise ServiceError("not_loaded", variable=VARIABLE) from None


def _too_slow(timeout_s: float) -> ServiceError:
    return ServiceError("timeout", variable=VARIABLE, seconds=math.ceil(timeout_s))
