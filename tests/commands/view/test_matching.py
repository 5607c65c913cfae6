"""Tests that the search of the page finds what the search of the terminal finds, in its order.

Node runs the script of the page; both get the same records and the same queries.
"""

import json
import os
import random
import shutil
import subprocess
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.text.matching import Entry, Search, tables
from tests.support.rows import none_of
from tests.support.stdio_client import ROOT

SCRIPT = ROOT / "commands" / "view" / "matching.js"
RUNNER = """
const {entries, asked} = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
const prepared = searchable(entries);
const answers = asked.map(([query, options]) => {
  const {hits, counts, sought} = search(query, prepared, options);
  const shown = hits.slice(0, 3).map((at) => entries[at].texts
    .map(([, text]) => places(sought, text).map(([start, end]) => text.slice(start, end))));
  return {hits, counts: Object.fromEntries(counts), shown};
});
const words = [...new Set(asked.map(([query]) => query.split(" ")[0]))].slice(-40);
const nearest = words.map((word) => [word, near(word, prepared)]);
console.log(JSON.stringify({answers, nearest}));
"""
SEED, QUERIES = 19, 600
SYLLABLES = (
    "가각간갈감강결과광권기길닭달그락되된들렉로롬리메모밀번변불사상서설세션스시심쓰않여오와왈원위은"
    "의이인일읽임자잘저전정제조종좌주중즉증지짧찾처철첫체초추층치캐커컨쿠키타토투틀판페표하한할함합해"
    "했행형호확환활회효훼휘흐를에로 "
)
PIECES = [
    *"a c e ing ed es s tion re un token Token TOKEN verify fee Rate rate_ - _ . / @ --".split(),
    *"# 2 20 2026 é É ß İ Σ ς σ ﬁ Ａ ｔ ㎏ ① ½ 𠀀 漢 字 カ ガ ｶﾞ ⓐ 🙂 ( [ * + ?".split(),
    *"\\ ^ $ | { } \" ' < > & => ++ \u0301 \u1100 \u11a8 ㄱ ㅏ ㄳ".split(),
    *"\u200d \ufeff \u00a0 \u3000 \x1c \x00 \t \n".split(" "),
    *"   ",
]


def made_texts(chance: random.Random) -> Iterator[str]:
    """Words of all kinds, glued and spaced at random."""
    for _ in range(300):
        source = chance.choice([PIECES, SYLLABLES, [*PIECES, *SYLLABLES, " "]])
        yield "".join(chance.choice(source) for _ in range(chance.randrange(1, 25)))


def real_entries() -> list[dict[str, Any]]:
    lines = (ROOT / ".context" / "memory_log.jsonl").read_text(encoding="utf-8").splitlines()
    for name in ("excalidraw", "hang-log"):
        text = (ROOT / "benchmarks" / "real" / f"{name}.jsonl").read_text(encoding="utf-8")
        lines += [
            json.dumps(it["lesson"]) for it in map(json.loads, text.splitlines()) if "lesson" in it
        ]
    entries = []
    for line in map(json.loads, lines):
        meta = line.get("meta", line)
        texts = [[3.0, line["lesson"]], [3.0, line["topic"]], [2.0, line["missing_context"]]]
        texts += [[1.0, line.get("ask_next_time", "")], [1.0, " ".join(meta.get("paths", []))]]
        entries.append({"texts": texts, "names": [line["id"], meta.get("created", "")]})
    return entries


def changed(word: str, chance: random.Random) -> str:
    """A word as people type it: whole, begun, mistyped, in another form of Unicode."""
    at = chance.randrange(len(word))
    swapped = word[:at] + word[at + 1 : at + 2] + word[at : at + 1] + word[at + 2 :]
    wide = "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in word)
    others = [word, word[: at + 1], word[:at] + word[at + 1 :], swapped, wide, word.upper()]
    others += [unicodedata.normalize(form, word) for form in ("NFD", "NFKD", "NFC")]
    others += [
        word + chance.choice(["s", "ed", "ing", "를", "에서는", "이", "ㅈ", "?", "()"]),
        word * 40,
    ]
    return chance.choice(others)


def made_queries(
    entries: list[dict[str, Any]], chance: random.Random
) -> Iterator[tuple[str, dict[str, bool]]]:
    words = [word for entry in entries for _, text in entry["texts"] for word in text.split()]
    for _ in range(QUERIES):
        count = chance.choice([1, 1, 1, 2, 2, 3])
        query = " ".join(changed(chance.choice(words), chance) for _ in range(count))
        if chance.random() < 0.1:
            query = "".join(
                chance.choice("ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ ")
                for _ in range(chance.randrange(1, 4))
            )
        yield query, {"loose": chance.random() < 0.2, "typing": chance.random() < 0.2}
    yield from (
        (query, {})
        for query in (
            "",
            " ",
            "the",
            "how to do it",
            "--remove",
            "=>",
            "c++",
            "A" * 5_000,
            "\ud800",
        )
    )


@pytest.mark.long
def test_the_page_finds_what_the_terminal_finds_in_the_same_order(tmp_path: Path) -> None:
    node = shutil.which("node")
    if not node:
        assert not os.environ.get("CI"), "node is missing"
        pytest.skip("node is not installed, so that the script of the page cannot be run")
    chance = random.Random(SEED)
    entries = real_entries()
    entries += [{"texts": [[3.0, text], [1.0, text[::-1]]]} for text in made_texts(chance)]
    asked = list(made_queries(entries, chance))
    script = tmp_path / "run.cjs"
    source = SCRIPT.read_text(encoding="utf-8")
    script.write_text(
        f"const TABLES = {json.dumps(tables())};\n{source}\n{RUNNER}", encoding="utf-8"
    )
    done = subprocess.run(
        [node, script],
        input=json.dumps({"entries": entries, "asked": asked}),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert not done.stderr, done.stderr
    told = json.loads(done.stdout)
    prepared = [Entry([*map(tuple, it["texts"])], it.get("names", ())) for it in entries]
    wrong = []
    for (query, options), answer in zip(asked, told["answers"], strict=True):
        search = Search(query, prepared, **options)
        hits = search.hits()
        shown = [
            [
                [text[start:end] for start, end in search.places(text)]
                for _, text in entries[at]["texts"]
            ]
            for at in hits[:3]
        ]
        ours = {"hits": hits, "counts": search.counts(), "shown": shown}
        if ours != answer:
            wrong.append((query, options, ours, answer))
    none_of(wrong)
    any_search = Search("", prepared)
    none_of(
        (word, near, any_search.near(word))
        for word, near in told["nearest"]
        if near != any_search.near(word)
    )
    assert sum(bool(answer["hits"]) for answer in told["answers"]) > QUERIES / 2
