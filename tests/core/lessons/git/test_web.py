"""Tests where a commit can be looked at on the web, and that no password of a remote gets there."""

import shutil
from pathlib import Path

import pytest

from core.lessons.git.web import address_of, commit_address
from tests.support.cli_process import TOKEN
from tests.support.git_clones import git, new_project

HUB, LAB, BUCKET = "https://github.com", "https://gitlab.com", "https://bitbucket.org"
KNOWN = {
    f"{HUB}/shop/web.git": f"{HUB}/shop/web/commit/",
    f"{HUB}/shop/web/": f"{HUB}/shop/web/commit/",
    "git@github.com:shop/web.git": f"{HUB}/shop/web/commit/",
    "ssh://git@ssh.github.com:443/shop/web.git": f"{HUB}/shop/web/commit/",
    "git@gitlab.com:shop/group/web.git": f"{LAB}/shop/group/web/-/commit/",
    "ssh://git@altssh.bitbucket.org:443/shop/web.git": f"{BUCKET}/shop/web/commits/",
    "https://gitlab.example.com:8443/a/b": "https://gitlab.example.com:8443/a/b/-/commit/",
    "https://codeberg.org/shop/web": "https://codeberg.org/shop/web/commit/",
    f"https://oauth2:{TOKEN}@gitlab.com/shop/web.git": f"{LAB}/shop/web/-/commit/",
    f"https://{TOKEN}@github.com/shop/web.git": f"{HUB}/shop/web/commit/",
    f"https://x:pass@word@{HUB[8:]}/shop/web": "",
}
UNKNOWN = (
    "",
    "/srv/git/web.git",
    "file:///srv/git/github.com/web.git",
    "C:\\github\\web",
    "https://example.com/shop/web.git",
    "https://notgithub.example/shop/web.git",
    "http://github.com/shop/web.git",
    "javascript:alert(1)//github.com/a/b",
    f"{HUB}/shop",
    f"{HUB}/shop/../../web",
    f"{HUB}/shop/web?token=1",
    f'{HUB}/shop/web"><img src=x>',
    f"{HUB}/shop/{TOKEN}.git",
    f"{HUB}/결제/web",
    "git@github.com:shop/web.git\nhttps://github.com/a/b",
)


def test_a_known_host_has_an_address_of_its_commits_without_any_password() -> None:
    assert {remote: address_of(remote) for remote in KNOWN} == KNOWN


def test_anything_else_has_none() -> None:
    assert [remote for remote in UNKNOWN if address_of(remote)] == []


@pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")
def test_the_address_is_that_of_origin_and_else_of_the_first_remote(tmp_path: Path) -> None:
    project = new_project(tmp_path / "shop")
    assert commit_address(project) == ""
    git(project, "remote", "add", "fork", "git@gitlab.com:me/web.git")
    assert commit_address(project) == f"{LAB}/me/web/-/commit/"
    git(project, "remote", "add", "origin", f"https://bot:{TOKEN}@github.com/shop/web.git")
    assert commit_address(project) == f"{HUB}/shop/web/commit/"
    assert commit_address(tmp_path) == ""
