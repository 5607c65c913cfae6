"""A quick start: while the protocol library is imported, nothing is done that can wait or be left.

A switch that a later version of pydantic no longer knows costs time, and nothing else.
"""

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quick_start() -> Iterator[None]:
    """Import the protocol library in here; afterwards all is as before but for two things.

    The collector rests: more than a hundred thousand objects appear, nearly all of them stay, and
    every run would look through all that came before. What exists at the end is frozen, so that
    later runs pass over it as well; the little garbage among it stays in memory. And the switch
    that leaves out plugins of pydantic stays in the environment, for models that are built later.

    What checks the messages is built when a message first needs it: of several hundred models a
    session uses a few dozen.
    """
    # The look-up reads the metadata of every installed package. A user's own value stays.
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
    """A model takes over the configuration of its base, here of the base of all."""
    from pydantic import BaseModel  # not before the environment is set

    before = BaseModel.model_config
    BaseModel.model_config = {**before, "defer_build": True}
    try:
        yield
    finally:
        BaseModel.model_config = before
