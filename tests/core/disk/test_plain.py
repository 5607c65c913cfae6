"""Tests the short way to a file: it reads what is plainly one, and leaves all else to others."""

from pathlib import Path

import pytest

from core.disk.links import read_plain


def test_a_plain_file_is_read_and_so_is_an_empty_one(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"one\r\ntwo\n")
    (tmp_path / "empty").touch()
    assert read_plain(str(tmp_path / "log")) == b"one\r\ntwo\n"
    assert read_plain(str(tmp_path / "empty")) == b""


def test_nothing_is_no_empty_file(tmp_path: Path) -> None:
    assert read_plain(str(tmp_path / "log")) is None
    assert read_plain(str(tmp_path / "gone" / "log")) is None
    assert read_plain(str(tmp_path)) is None


def test_links_are_left_to_who_follows_them_with_care(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "log").write_bytes(b"one\n")
    try:
        (tmp_path / "folder").symlink_to(tmp_path / "real")
        (tmp_path / "log").symlink_to(tmp_path / "real" / "log")
    except OSError:
        pytest.skip("this system lets nobody make links")
    assert read_plain(str(tmp_path / "folder" / "log")) is None
    assert read_plain(str(tmp_path / "log")) is None
