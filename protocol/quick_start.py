"""A quick start: while the protocol library is imported, nothing is done that can wait or be left.

A switch that a later version of pydantic no longer knows costs time, and nothing else.
"""

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from types import UnionType
from typing import Any, Union, get_args, get_origin


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
        with _late_models(), _late_unions():
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


@contextmanager
def _late_unions() -> Iterator[None]:
    """An adapter for "one of these models" waits as its models do; every other is built at once.

    An adapter looks for names where it is made, so it must not mind the function in between. What
    says so is `_parent_depth`, no public name: where it is gone, or counts otherwise, all is left.
    """
    from pydantic import BaseModel, ConfigDict, TypeAdapter

    made = TypeAdapter.__init__
    defaults = getattr(made, "__kwdefaults__", None) or {}
    if defaults.get("_parent_depth") != 2 or "config" not in defaults:
        yield
        return

    def made_late(
        self: TypeAdapter[Any],
        type: Any,
        *,
        config: ConfigDict | None = None,
        _parent_depth: int = 2,
        **others: Any,
    ) -> None:
        members = get_args(type) if get_origin(type) in (Union, UnionType) else ()
        if config is None and members and all(_is_a(BaseModel, it) for it in members):
            config = ConfigDict(defer_build=True)
        made(self, type, config=config, _parent_depth=_parent_depth + 1, **others)

    TypeAdapter.__init__ = made_late  # type: ignore[method-assign]
    try:
        yield
    finally:
        TypeAdapter.__init__ = made  # type: ignore[method-assign]


def _is_a(base: type, it: object) -> bool:
    return isinstance(it, type) and issubclass(it, base)
