"""Packs the server into one `.mcpb` file, which Claude Desktop installs from its settings.

The format is that of MCPB manifests, version 0.4: the first with the server type `uv`, for which
the client brings Python and installs the packages that pyproject.toml names.
"""

import argparse
import io
import json
import os
import re
import stat
import tomllib
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commands.bundle.words import WORDS, word
from commands.clients.table import TOOLS
from commands.documents.text_file import check_stays
from commands.terminal.console import add_examples, add_output, explain, settings_here
from commands.terminal.safe_text import plain, warn
from core.disk.atomic import is_there, read_regular, reason_of, replace_whole
from core.errors import SentinelError
from core.messages import Language
from core.project import find_project

CHECKOUT = Path(__file__).resolve().parents[2]
NAME = "sentinel-memory"
SUFFIX = ".mcpb"
MANIFEST = "manifest.json"
ENTRY_POINT = "server.py"
PACKAGES = ("core", "protocol", "rooms", "door")
DOCUMENTS = ("README.md", "LICENSE")
LANGUAGES: tuple[Language, ...] = ("en", "ko")

# Claude Desktop, as its users report, runs a uv of its own in place of `command`, with these
# arguments. Behind the word `python` uv takes the environment of the installed bundle; for the
# script alone it would make one from its header, while the client waits. `--project` instead of
# `--directory` keeps the working directory: if a client does not fill in the project, the server
# must not take the folder of the bundle for it.
_ARGUMENTS = [
    *("run", "--project", "${__dirname}", "python", f"${{__dirname}}/{ENTRY_POINT}"),
    *("--project", "${user_config.project_directory}"),
]
_HEADER = re.compile(r"^# /// script\n(.*?)^# ///$", re.M | re.S)
_VERSION = re.compile(r'^VERSION = "([^"]+)"$', re.M)
_OLDEST = (1980, 1, 1, 0, 0, 0)  # the first moment that an archive can name


class BundleError(SentinelError):
    """No bundle was written; what was there is as it was. Facts: path, perhaps reason."""

    words = WORDS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py bundle`."""
    default = f"{NAME}-VERSION{SUFFIX}"
    add_output(parser, explain("bundle_output", default=default), force=False)
    add_examples(parser, "bundle", f"bundle -o dist/{NAME}{SUFFIX}")


def run(arguments: argparse.Namespace) -> int:
    """Build the bundle of this checkout and write it whole or not at all.

    Raises BundleError, and ExportError for a path that a link leads elsewhere.
    """
    settings = settings_here()
    for warning in settings.warnings:
        warn(warning)
    lang = settings.lang
    try:
        bundle = bundle_of(CHECKOUT)
    except OSError as error:
        path = str(error.filename)
        raise BundleError("incomplete", path=path, reason=reason_of(error)) from error
    target = Path(arguments.output or bundle.name)
    check_stays(target, find_project(None, os.environ, Path.cwd()).root, named=True)
    data = bundle.archive()
    try:
        if target.suffix.lower() != SUFFIX:
            raise BundleError("other_name", path=str(target))
        if is_there(target) and not is_bundle(target):
            raise BundleError("other_file", path=str(target))
        replace_whole(target, data)
    except OSError as error:
        raise BundleError("not_written", path=str(target), reason=reason_of(error)) from error
    print(word(lang, "written", path=plain(str(target)), files=len(bundle.files), size=len(data)))
    print(word(lang, "next"))
    return 0


@dataclass(frozen=True, slots=True)
class Bundle:
    """The files of a bundle, by their paths in it."""

    version: str
    files: Mapping[str, bytes]

    @property
    def name(self) -> str:
        """What the file of this version is called."""
        return f"{NAME}-{self.version}{SUFFIX}"

    def archive(self) -> bytes:
        """Make one archive of the files: the same files give the same bytes, with the same zlib."""
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            for path, data in sorted(self.files.items()):
                entry = zipfile.ZipInfo(path, _OLDEST)
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.create_system = 3  # Unix, also when built on Windows
                entry.external_attr = (stat.S_IFREG | 0o644) << 16
                archive.writestr(entry, data, compresslevel=9)
        return packed.getvalue()


def bundle_of(root: Path) -> Bundle:
    """Return the bundle of a checkout. Raises OSError for a file that is missing or unreadable."""
    files = _program(root)
    documents = [path for pattern in DOCUMENTS for path in root.glob(pattern) if path.is_file()]
    files |= {path.name: path.read_bytes() for path in documents}
    server = files[ENTRY_POINT].decode("utf-8").replace("\r\n", "\n")
    [version], [header] = _VERSION.findall(server), _HEADER.findall(server)
    needs = tomllib.loads(re.sub(r"^# ?", "", header, flags=re.M))
    manifest = _manifest(version, needs["requires-python"])
    files["pyproject.toml"] = _pyproject(version, needs).encode("utf-8")
    files[MANIFEST] = _json(manifest)
    resources = manifest["localization"]["resources"]
    files[resources.replace("${locale}", "ko-KR")] = _json(_texts("ko"))
    return Bundle(version, files)


def is_bundle(path: Path) -> bool:
    """Return whether a file is a bundle of this server, of any version."""
    try:
        with zipfile.ZipFile(io.BytesIO(read_regular(path)[0])) as archive:
            return bool(json.loads(archive.read(MANIFEST))["name"] == NAME)
    except Exception:  # no archive, another one, a damaged one: each fails in its own way
        return False


def _program(root: Path) -> dict[str, bytes]:
    """Return the files of the server and of its packages."""
    paths = [root / ENTRY_POINT]
    for package in PACKAGES:
        paths += sorted((root / package).rglob("*.py"))
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}


def _pyproject(version: str, needs: Mapping[str, object]) -> str:
    """Return a project that only names its packages: what `uv` needs to make an environment."""
    lines = [
        "[project]",
        f"name = {json.dumps(NAME)}",
        f"version = {json.dumps(version)}",
        f"requires-python = {json.dumps(needs['requires-python'])}",
        f"dependencies = {json.dumps(needs['dependencies'])}",
        "",
        "[tool.uv]",
        "package = false",
    ]
    return "\n".join(lines) + "\n"


def _manifest(version: str, python: str) -> dict[str, Any]:
    return {
        "manifest_version": "0.4",
        "name": NAME,
        "display_name": "Sentinel-Memory",
        "version": version,
        "author": {"name": "Sentinel-Memory"},
        **_texts("en"),
        "localization": {"resources": "mcpb-resources/${locale}.json", "default_locale": "en-US"},
        "server": {
            "type": "uv",
            "entry_point": ENTRY_POINT,
            "mcp_config": {
                "command": "uv",
                "args": _ARGUMENTS,
                "env": {"SENTINEL_MEMORY_LANG": "${user_config.language}"},
            },
        },
        "user_config": {
            "project_directory": {"type": "directory", **_labels("project"), "required": True},
            "language": {
                "type": "string",
                **_labels("language"),
                "required": False,
                "default": "en",
            },
        },
        "prompts_generated": True,
        "compatibility": {
            "platforms": ["darwin", "win32", "linux"],
            "runtimes": {"python": python},
        },
    }


def _texts(lang: Language) -> dict[str, Any]:
    """Return what a client translates: the texts that it shows of the bundle and its tools."""
    tools = [{"name": tool, "description": word(lang, tool)} for tool in TOOLS["lessons"]]
    return {
        "description": word(lang, "description"),
        "long_description": word(lang, "long_description"),
        "tools": tools,
    }


def _labels(setting: str) -> dict[str, str]:
    """Return the texts of a setting in both languages at once, as no client translates them."""
    return {
        part: " / ".join(word(lang, f"{setting}_{part}") for lang in LANGUAGES)
        for part in ("title", "description")
    }


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=2).encode("utf-8") + b"\n"
