"""Tests that setup puts hooks into a user's file once, finds them again and takes them out."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands.clients.table import CLIENTS, Hooks
from commands.documents.json_tree import data_of
from commands.setup.files import Installation
from commands.setup.here import installed
from commands.setup.hooks import Call, hook_strings, with_hooks, without_hooks
from tests.commands.documents.test_edit_json import texts
from tests.support.tables import table

ROWS = table("commands/hooks")

HOOKS: dict[str, Hooks] = {it.key: it.hooks for it in CLIENTS if it.hooks}
TOOL = installed(("/새 폴더/python",), "/t", windows=False)
OLD = installed(("/bin/uv", "run"), "/o dir", windows=False)
THEIRS = ROWS["theirs"]
GROUPS = st.fixed_dictionaries(
    {"hooks": st.lists(st.sampled_from(THEIRS), min_size=1, max_size=2)},
    optional={"matcher": st.just("Bash")},
)


def call(client: str, installation: Installation = TOOL) -> Call:
    return Call(installation=installation, client=client)


def documents(hooks: Hooks) -> st.SearchStrategy[dict[str, Any]]:
    """Files in which hooks of the user stand, or none."""
    item = GROUPS if hooks.grouped else st.sampled_from(THEIRS)
    events = st.sampled_from([*(event.name for event in hooks.events), "other"])
    listed = st.dictionaries(events, st.lists(item, min_size=1, max_size=2), min_size=1)
    version = {"version": st.just(1)} if hooks.version else {"model": st.just("x")}
    return st.fixed_dictionaries(version, optional={"hooks": listed})


@pytest.mark.long  # it costs much
@given(client=st.sampled_from(list(HOOKS)), data=st.data())
def test_taking_out_what_was_put_in_gives_the_text_back(client: str, data: st.DataObject) -> None:
    hooks = HOOKS[client]
    text = data.draw(texts(documents(hooks)))
    assert without_hooks(text, hooks) == text
    put_in = with_hooks(text, hooks, call(client))
    assert list(hook_strings(put_in, hooks))
    assert with_hooks(put_in, hooks, call(client)) == put_in
    assert without_hooks(put_in, hooks) == text


@given(client=st.sampled_from(list(HOOKS)), data=st.data())
def test_another_installation_takes_the_place_of_the_first(
    client: str, data: st.DataObject
) -> None:
    hooks = HOOKS[client]
    text = data.draw(texts(documents(hooks)))
    moved = with_hooks(with_hooks(text, hooks, call(client, OLD)), hooks, call(client))
    fresh = with_hooks(text, hooks, call(client))
    assert data_of(moved) == data_of(fresh)
    assert "/o dir/cli.py" not in "".join(hook_strings(moved, hooks))
