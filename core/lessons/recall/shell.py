"""Reads what a command for a shell runs, and which files it works on without naming them.

Pure. `uv lock` writes `uv.lock`. Only commands whose whole point is a file have one here: `npm
test` says nothing of package.json.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from core.lessons.recall.reading import MEANINGLESS

_COMMAND_END = re.compile(r"&&|\|\||[;|\n]")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=", re.A)
# What stands before the program that is really run.
_WRAPPERS = frozenset(
    "sudo env time uv run npx pnpm yarn exec poetry pipenv bundle python python3 -m bash sh -c cd"
    " then do".split()
)

# Programs, the words that may follow ("" for any), and the files. Sources: the documentation of
# each tool on the files that it reads or writes by default.
# fmt: off
_ROWS: Sequence[tuple[str, str, str]] = (
    ("uv", "add remove lock sync", "uv.lock pyproject.toml"),
    ("poetry", "add remove lock update install", "poetry.lock pyproject.toml"),
    ("pdm", "add remove lock update install", "pdm.lock pyproject.toml"),
    ("pipenv", "install uninstall lock update", "Pipfile Pipfile.lock"),
    ("pip pip3", "install uninstall", "requirements.txt requirements-dev.txt pyproject.toml"),
    ("pip-compile", "", "requirements.in requirements.txt"),
    ("npm", "install i ci add uninstall update audit version", "package.json package-lock.json"),
    ("pnpm", "install i add remove update", "package.json pnpm-lock.yaml"),
    ("yarn", "install add remove upgrade up", "package.json yarn.lock"),
    ("bun", "install add remove update", "package.json bun.lock bun.lockb"),
    ("cargo", "add remove update", "Cargo.toml Cargo.lock"),
    ("go", "get mod", "go.mod go.sum"),
    ("bundle bundler", "install update add lock", "Gemfile Gemfile.lock"),
    ("composer", "install require remove update", "composer.json composer.lock"),
    ("mix", "deps.get deps.update", "mix.exs mix.lock"),
    ("dotnet", "add remove restore", "*.csproj"),
    ("flutter dart", "pub", "pubspec.yaml pubspec.lock"),
    ("mvn mvnw", "", "pom.xml"),
    ("gradle gradlew", "", "build.gradle build.gradle.kts settings.gradle settings.gradle.kts"),
    ("bazel bazelisk", "", "MODULE.bazel WORKSPACE BUILD.bazel"),
    ("cmake", "", "CMakeLists.txt"),
    ("make gmake", "", "Makefile"),
    ("just", "", "justfile"),
    ("terraform tofu", "", "*.tf *.tfvars"),
    ("terragrunt", "", "terragrunt.hcl"),
    ("ansible-playbook", "", "ansible.cfg"),
    ("helm", "", "Chart.yaml values.yaml"),
    ("helmfile", "", "helmfile.yaml"),
    ("kustomize", "", "kustomization.yaml"),
    ("docker podman", "build buildx", "Dockerfile"),
    ("docker podman", "compose",
     "docker-compose.yml docker-compose.yaml compose.yaml compose.yml"),
    ("docker-compose", "",
     "docker-compose.yml docker-compose.yaml compose.yaml compose.yml"),
    ("skaffold", "", "skaffold.yaml"),
    ("tilt", "", "Tiltfile"),
    ("vagrant", "", "Vagrantfile"),
    ("pre-commit", "", ".pre-commit-config.yaml"),
    ("alembic", "", "alembic.ini"),
    ("tox", "", "tox.ini"),
    ("nox", "", "noxfile.py"),
    ("tsc", "", "tsconfig.json"),
    ("vite", "", "vite.config.ts vite.config.js"),
    ("webpack", "", "webpack.config.js"),
    ("wrangler", "", "wrangler.toml"),
    ("fly flyctl", "", "fly.toml"),
    ("vercel", "", "vercel.json"),
    ("firebase", "", "firebase.json"),
    ("serverless sls", "", "serverless.yml"),
    ("prisma", "", "schema.prisma"),
    ("buf", "", "buf.yaml buf.gen.yaml"),
)
# fmt: on


def _table() -> Mapping[str, Sequence[tuple[frozenset[str], tuple[str, ...]]]]:
    table: dict[str, list[tuple[frozenset[str], tuple[str, ...]]]] = {}
    for tools, words, files in _ROWS:
        for tool in tools.split():
            names = tuple(files.casefold().split())
            table.setdefault(tool, []).append((frozenset(words.split()), names))
    return table


_FILES = _table()


def phrases_in(command: str) -> Iterator[tuple[str, str]]:
    """Yield two words in a row of each program that a command runs."""
    for words in _programs(command):
        while words and words[0] in _WRAPPERS:
            del words[0]
        yield from (pair for pair in pairwise(words) if not MEANINGLESS & {*pair})


def tool_files(command: str) -> Iterator[tuple[str, bool]]:
    """Yield the names, caseless, of the files that the programs of a command work on.

    Beside each whether the command is one that writes it, as `uv lock`, not only reads, as `make`.
    """
    for words in _programs(command):
        yield from _files_of(words)
        while words and words[0] in _WRAPPERS:
            del words[0]
            yield from _files_of(words)


def _files_of(words: Sequence[str]) -> Iterator[tuple[str, bool]]:
    if words:
        for following, names in _FILES.get(words[0].rpartition("/")[2], ()):
            # An option may have a word of its own.
            if not following or following.intersection(words[1:3]):
                yield from ((name, bool(following)) for name in names)


def _programs(command: str) -> Iterator[list[str]]:
    """Yield the words of each program that a command runs, options left out."""
    for part in _COMMAND_END.split(command):
        words = [word.strip("'\"()`").casefold() for word in part.split()]
        yield [it for it in words if it and not _ASSIGNMENT.match(it) and not it.startswith("-")]
