"""Starts the server quickly: importing the protocol library does nothing that can wait.

A switch that a later version of pydantic no longer knows costs time, and nothing else.
"""

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quick_start() -> Iterator[None]:
    """Import the protocol library in here; two things stay changed afterwards.

    The collector rests, since nearly all of more than a hundred thousand new objects stay. What
    exists at the end is frozen: later runs pass over it, and the little garbage among it stays in
    memory. The switch that leaves out plugins of pydantic stays in the environment, for models
    that are built later.

    A model is built when a message first needs it: of several hundred a session uses a few dozen.
    """
    # The search for plugins reads the metadata of every package. A user's own value stays.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    collects = gc.isenabled()
    gc.disable()
    try:
        with _late_models():
            yield
    finally:
        gc.freeze()
        if collects:
            gc.enable()


@contextmanager
def _late_models() -> Iterator[None]:
    """Defer the building of models, which inherit their configuration from the base of all."""
    from pydantic import BaseModel  # not before the environment is set

    before = BaseModel.model_config
    BaseModel.model_config = {**before, "defer_build": True}
    try:
        yield
    finally:
        BaseModel.model_config = before
