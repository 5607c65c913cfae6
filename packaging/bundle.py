"""Packs the server into one `.mcpb` file for Claude Desktop: `python packaging/bundle.py`.

The format is that of MCPB manifests, version 0.4: the first with the server type `uv`, for which
the client brings Python and installs the packages that pyproject.toml names. What a client shows of
the bundle is in bundle.json, in both languages. The script needs no package.
"""

import argparse
import io
import json
import re
import stat
import sys
import tomllib
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from core.disk import is_there, read_regular_file, reason_of, replace_file

ROOT = Path(__file__).resolve().parent.parent
NAME = "sentinel-memory"
SUFFIX = ".mcpb"
MANIFEST = "manifest.json"
ENTRY_POINT = "server.py"
PACKAGES = ("core", "protocol", "rooms", "http_server")
PROGRAM_SUFFIXES = (".py", ".json", ".jsonl", ".md", ".sql", ".html", ".css")
DOCUMENTS = ("README.md", "LICENSE")
TOOLS = ("search_memory", "log_memory", "compact_memory")
TEXTS = json.loads(Path(__file__).with_name("bundle.json").read_text("utf-8"))

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


def main(argv: Sequence[str] | None = None) -> int:
    """Build the bundle of this checkout and write it whole or not at all; 1 if nothing is written.

    Wrong arguments: SystemExit(2).
    """
    parser = argparse.ArgumentParser(description="Build the .mcpb file for Claude Desktop.")
    default = f"{NAME}-VERSION{SUFFIX}"
    parser.add_argument(
        "-o", "--output", metavar="FILE", help=f"the file to write (default: {default})"
    )
    output = parser.parse_args(argv).output
    if output == "":
        parser.error("-o/--output: a file name is missing")
    try:
        bundle = bundle_of(ROOT)
    except OSError as error:
        return _refused(
            f"{error.filename}: it belongs in the bundle but cannot be read ({reason_of(error)})."
            " Nothing was written. Restore it in the clone, for instance with git, then repeat"
            " the command."
        )
    target, data = Path(output or bundle.name), bundle.archive()
    if target.suffix.lower() != SUFFIX:
        return _refused(
            f"{target}: a client knows a bundle by its name, which must end in {SUFFIX}. Nothing"
            " was written. Repeat the command with such a name."
        )
    try:
        if is_there(target) and not is_bundle(target):
            return _refused(
                f"{target}: it already exists and is not a bundle of Sentinel-Memory. Nothing was"
                " written. Move it away, or give another name with -o."
            )
        replace_file(target, data)
    except OSError as error:
        return _refused(
            f"{target}: the bundle could not be written ({reason_of(error)}). What was there is"
            " unchanged. Name a writable place with -o."
        )
    print(f"{target}: {len(bundle.files)} files, {len(data):,} bytes.")
    print(
        "In Claude Desktop: Settings -> Extensions -> Advanced settings -> Install Extension."
        " Choose this file, then the directory of your project."
    )
    return 0


def _refused(sentence: str) -> int:
    print(sentence, file=sys.stderr)
    return 1


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
    paths = [root / ENTRY_POINT]
    for package in PACKAGES:
        inside = (root / package).rglob("*")
        paths += sorted(path for path in inside if path.suffix in PROGRAM_SUFFIXES)
    paths += [root / name for name in DOCUMENTS if (root / name).is_file()]
    files = {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}
    server = files[ENTRY_POINT].decode("utf-8").replace("\r\n", "\n")
    [version], [header] = _VERSION.findall(server), _HEADER.findall(server)
    needs = tomllib.loads(re.sub(r"^# ?", "", header, flags=re.M))
    manifest = _manifest(version, needs["requires-python"])
    # A project that only names its packages: what `uv` needs to make an environment.
    lines = [
        "[project]",
        f"name = {json.dumps(NAME)}",
        f"version = {json.dumps(version)}",
        f"requires-python = {json.dumps(needs['requires-python'])}",
        f"dependencies = {json.dumps(needs['dependencies'])}",
        *("", "[tool.uv]", "package = false", ""),
    ]
    files["pyproject.toml"] = "\n".join(lines).encode("utf-8")
    files[MANIFEST] = _json(manifest)
    resources = manifest["localization"]["resources"]
    files[resources.replace("${locale}", "ko-KR")] = _json(_texts("ko"))
    return Bundle(version, files)


def is_bundle(path: Path) -> bool:
    """Return whether a file is a bundle of this server, of any version."""
    try:
        with zipfile.ZipFile(io.BytesIO(read_regular_file(path)[0])) as archive:
            return bool(json.loads(archive.read(MANIFEST))["name"] == NAME)
    except Exception:  # no archive, another one, a damaged one: each fails in its own way
        return False


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


def _texts(lang: str) -> dict[str, Any]:
    """Return what a client translates: the texts that it shows of the bundle and its tools."""
    texts = TEXTS[lang]
    return {
        "description": texts["description"],
        "long_description": texts["long_description"],
        "tools": [{"name": tool, "description": texts[tool]} for tool in TOOLS],
    }


def _labels(setting: str) -> dict[str, str]:
    """Return the texts of a setting in both languages at once, as no client translates them."""
    return {
        part: " / ".join(texts[f"{setting}_{part}"] for texts in TEXTS.values())
        for part in ("title", "description")
    }


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=2).encode("utf-8") + b"\n"


if __name__ == "__main__":
    sys.exit(main())
