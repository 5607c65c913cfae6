"""The bundle: this server as one `.mcpb` file, which Claude Desktop installs from its settings."""

import argparse
import os
import sys
from pathlib import Path

from commands.bundle.contents import NAME, SUFFIX, bundle_of, is_bundle
from commands.bundle.words import word
from commands.terminal.safe_text import plain
from core.disk.atomic import is_there, reason_of, replace_whole
from core.messages import Language
from core.settings import read_settings

CHECKOUT = Path(__file__).resolve().parents[2]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `cli.py bundle`."""
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help=f"the file to write; default: {NAME}-VERSION{SUFFIX} in the working directory",
    )
    parser.set_defaults(refuse=parser.error)


def run(arguments: argparse.Namespace) -> int:
    """Build the bundle of this checkout and write it whole or not at all; 1 when it was not."""
    settings = read_settings(os.environ)
    for warning in settings.warnings:
        print(warning, file=sys.stderr)
    lang = settings.lang
    if arguments.output == "":
        arguments.refuse(word(lang, "no_name"))
    try:
        bundle = bundle_of(CHECKOUT)
    except OSError as error:
        return _refused(lang, "incomplete", str(error.filename), reason=reason_of(error))
    target = Path(arguments.output or bundle.name)
    data = bundle.archive()
    try:
        if target.suffix.lower() != SUFFIX:
            return _refused(lang, "other_name", str(target))
        if is_there(target) and not is_bundle(target):
            return _refused(lang, "other_file", str(target))
        replace_whole(target, data)
    except OSError as error:
        return _refused(lang, "not_written", str(target), reason=reason_of(error))
    shown = plain(str(target))
    print(word(lang, "written", path=shown, files=len(bundle.files), size=len(data)))
    print(word(lang, "next"))
    return 0


def _refused(lang: Language, key: str, path: str, **facts: str) -> int:
    print(word(lang, key, path=plain(path), **facts), file=sys.stderr)
    return 1
