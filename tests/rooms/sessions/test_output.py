"""Tests where a document may be written: inside the project, over nothing but an earlier export."""

import os
from pathlib import Path

import pytest

from rooms.sessions.document import FormName, export
from rooms.sessions.session import ExchangeError
from rooms.sessions.store import SessionStore
from tests.support.sentences import in_language
from tests.support.session_samples import make_sample_store


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    (tmp_path / "shop").mkdir()
    return make_sample_store(tmp_path / "shop", 2)


def key_of(store: SessionStore, output: str, form: FormName = "markdown") -> str:
    """The key of the refusal of a file; the project and what is around it stay as they are."""
    before = files_in(store.root.parent)
    with pytest.raises(ExchangeError) as refused:
        export(store, form, output=output)
    assert files_in(store.root.parent) == before
    for lang in ("en", "ko"):
        assert in_language(lang, str, refused.value)
    return refused.value.key


def files_in(folder: Path) -> dict[str, bytes]:
    """All files but those that a database makes to be read."""
    found = (it for it in folder.rglob("*") if it.is_file() and ".db" not in it.name)
    return {str(it): it.read_bytes() for it in found}


@pytest.mark.long  # it costs much
@pytest.mark.row("003 T62")
@pytest.mark.parametrize("output", ["a.md", "docs/new/a.md", "./a.MARKDOWN", ".context/a.md"])
def test_a_file_in_the_project_is_written_and_replaced(store: SessionStore, output: str) -> None:
    done = export(store, "markdown", output=output)
    assert done.path == output.removeprefix("./")
    assert (done.text, done.count) == ("", 2)
    assert export(store, "markdown", output=output, names=["1"]).count == 1
    assert (store.root / output).read_text(encoding="utf-8").count("\n## ") == 1


def test_an_absolute_path_inside_the_project_is_fine(store: SessionStore) -> None:
    assert export(store, "json", output=str(store.root / "docs" / "a.json")).path == "docs/a.json"


@pytest.mark.long  # it costs much
@pytest.mark.row("003 T62")
@pytest.mark.parametrize(
    ("output", "key"),
    [
        ("../a.md", "output_outside"),
        ("docs/../../a.md", "output_outside"),
        ("/tmp/a.md", "output_outside"),
        ("", ""),
        ("a\0.md", "output_outside"),
        ("a.py", "output_name"),
        ("a", "output_name"),
        ("a\n.md", "output_name"),
        (".git/a.md", "output_reserved"),
        (".GIT/hooks/a.md", "output_reserved"),
        ("sub/.git./a.md", "output_reserved"),
        (".github/a.md", "output_reserved"),
        (".cursor/rules/a.md", "output_reserved"),
        ("docs/CLAUDE.md", "output_reserved"),
        ("AGENTS.md", "output_reserved"),
        ("docs/.context/a.md", "output_reserved"),
    ],
)
def test_another_place_or_name_is_refused(store: SessionStore, output: str, key: str) -> None:
    if output:
        assert key_of(store, output) == key
    else:
        assert export(store, "markdown", output=output).text


@pytest.mark.parametrize("name", ["current.json", "config.json"])
def test_a_file_of_the_room_is_never_replaced(store: SessionStore, name: str) -> None:
    assert key_of(store, f".context/sessions/{name}", "json") == "output_reserved"


@pytest.mark.row("003 T62")
@pytest.mark.parametrize("content", ["", "# Notes\n", "<!-- sentinel-memory export: x -->\n"])
def test_a_file_of_somebody_else_stays(store: SessionStore, content: str) -> None:
    (store.root / "notes.md").write_text(content, encoding="utf-8")
    assert key_of(store, "notes.md") == "output_exists"


def test_an_export_of_another_form_is_no_earlier_export(store: SessionStore) -> None:
    export(store, "html", output="a.html")
    (store.root / "a.html").rename(store.root / "a.md")
    assert key_of(store, "a.md") == "output_exists"


def test_a_directory_of_that_name_stays(store: SessionStore) -> None:
    (store.root / "a.md").mkdir()
    assert key_of(store, "a.md") == "output_exists"


@pytest.mark.skipif(os.name == "nt", reason="links of POSIX")
class TestLinks:
    def test_none_that_leads_out_is_followed(self, store: SessionStore) -> None:
        outside = store.root.parent / "outside"
        outside.mkdir()
        (store.root / "docs").symlink_to(outside)
        (store.root / "a.md").symlink_to(outside / "a.md")
        assert key_of(store, "docs/a.md") == "output_outside"
        assert key_of(store, "a.md") == "output_outside"

    def test_one_inside_the_project_is_followed(self, store: SessionStore) -> None:
        (store.root / "real").mkdir()
        (store.root / "docs").symlink_to("real")
        assert export(store, "markdown", output="docs/a.md").path == "real/a.md"

    def test_none_leads_into_git(self, store: SessionStore) -> None:
        (store.root / ".git").mkdir()
        (store.root / "docs").symlink_to(".git")
        assert key_of(store, "docs/a.md") == "output_reserved"


def test_a_directory_that_cannot_be_written_is_named(store: SessionStore) -> None:
    (store.root / "docs").write_text("a file", encoding="utf-8")
    assert key_of(store, "docs/a.md") in ("output_write", "output_exists")


def test_no_temporary_file_is_left(store: SessionStore) -> None:
    export(store, "markdown", output="docs/a.md")
    assert os.listdir(store.root / "docs") == ["a.md"]
