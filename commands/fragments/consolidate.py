"""Puts the fragments in order: ages, merges and compares them, and says what it did."""

import argparse
import os
from typing import TYPE_CHECKING, Any

from commands.fragments.lines import fragment_table
from commands.fragments.room import add_json, as_data, empty_lines, open_fragments
from commands.terminal.ask import add_examples, progress
from commands.terminal.safe_text import plain, plain_json
from commands.terminal.screen import INDENT, Screen, print_within, screen_here, table
from core.messages import has_sentence, say

if TYPE_CHECKING:
    from rooms.fragments.upkeep.consolidating import Report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `cli.py fragments consolidate`."""
    add_json(parser)
    add_examples(parser, "fragments consolidate", "fragments consolidate --json")


def run(arguments: argparse.Namespace) -> int:
    """Consolidate and print the report; always 0. Raises SentinelError."""
    from rooms.fragments.embeddings.embedder import embedder_of
    from rooms.fragments.judging.judge import judge_of
    from rooms.fragments.upkeep.consolidating import consolidate

    opened = open_fragments()
    if not opened.is_there and not arguments.json:
        print_within(empty_lines())
        return 0
    with progress() as tell:

        def begins(place: int, count: int, name: str) -> None:
            tell(
                say(
                    "fragment_commands.at_step",
                    place=place,
                    count=count,
                    name=say(f"fragment_commands.{name}"),
                )
            )

        report = consolidate(
            opened.room,
            progress=begins,
            judge=judge_of(os.environ),
            embedder=embedder_of(os.environ),
        )
    if arguments.json:
        print(plain_json(_as_json(report)))
    else:
        print_within(_lines(report, screen_here()))
    return 0


def _lines(report: "Report", screen: Screen) -> list[str]:
    count = sum(it.count for it in report.steps)
    rows = [
        [say(f"fragment_commands.{it.name}"), f"{it.count:,}", _figures(it.figures)]
        for it in report.steps
    ]
    head, *lines = table(
        [say(f"fragment_commands.{it}") for it in ("step", "count", "figures")], rows, screen.width
    )
    lines = [
        screen.painted(head, "bold"),
        *lines,
        "",
        say("fragment_commands.consolidated", count=count),
    ]
    if report.suspicions:
        lines += ["", say("fragment_commands.pairs")]
        for pair in report.suspicions:
            lines += [
                plain(f"{INDENT}{pair.earlier.id}: {pair.earlier.content}"),
                plain(f"{INDENT * 2}{pair.later.id}: {pair.later.content}"),
            ]
    listed = {
        "doubtful": report.stale,
        "promotable": report.promotable,
        "for_the_log": report.for_the_log,
    }
    for key, fragments in listed.items():
        if fragments:
            lines += [
                "",
                say(f"fragment_commands.{key}", id=fragments[0].id),
                *fragment_table(fragments, screen),
            ]
    return lines


def _figures(figures: dict[str, int]) -> str:
    """Return the figures of a step that are not zero; one that has no words by its own name."""
    shown = []
    for name, figure in figures.items():
        key = (
            name
            if has_sentence(f"fragment_commands.{name}") and name.startswith("to_")
            else f"n_{name}"
        )
        known = (
            say(f"fragment_commands.{key}", figure=figure)
            if has_sentence(f"fragment_commands.{key}")
            else f"{name} {figure:,}"
        )
        shown += [known] if figure else []
    return ", ".join(shown) or "-"


def _as_json(report: "Report") -> dict[str, Any]:
    return {
        "steps": [
            {"name": it.name, "count": it.count, "figures": it.figures} for it in report.steps
        ],
        "suspicions": [
            {
                "earlier": as_data(it.earlier),
                "later": as_data(it.later),
                "similarity": it.similarity,
            }
            for it in report.suspicions
        ],
        "stale": [*map(as_data, report.stale)],
        "promotable": [*map(as_data, report.promotable)],
        "forTheLog": [*map(as_data, report.for_the_log)],
    }
