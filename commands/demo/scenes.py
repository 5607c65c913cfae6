"""Plays nine scenes with the real server, from an empty memory to a compacted one.

Nothing is canned: all text comes from the server or stands in the file, and the demo checks each
sentence that begins with `ok:` before it prints it.
"""

import random
import re
import string
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from commands.demo.reading import (
    FIELDS,
    Lesson,
    clusters,
    compose,
    hangul_words,
    read_groups,
    read_lessons,
    sentence,
    similar_pairs,
)
from commands.demo.stage import SERVER, DemoFailedError, ScratchProject, Screen, Stage, on_stage
from commands.demo.words import word
from core.lessons.record import LIMITS_BYTES
from core.messages import Facts, Language
from core.project import CONTEXT_DIRECTORY, LOG_NAME
from core.settings import DEFAULT_THRESHOLD

LESSONS = (
    SERVER.parent / CONTEXT_DIRECTORY / LOG_NAME,
    Path(__file__).resolve().parent / "lessons.jsonl",
)
MERGED_FOR = ("words", "contains")  # why the demo merges two topics


async def play_scenes(
    project: ScratchProject, screen: Screen, lang: Language, server: Path, scratch: Path
) -> None:
    """Play all scenes. Raises DemoFailedError when a claim does not hold."""
    lessons = read_lessons(LESSONS)
    async with on_stage(project, screen, lang, server, scratch) as stage:
        await empty_memory(stage)
        opening = [
            next(lesson for lesson in lessons if not hangul_words(lesson["lesson"])),
            *[lesson for lesson in lessons if hangul_words(lesson["lesson"])][:2],
        ]
        query = await first_lessons(stage, opening)
        await same_gap_again(stage, opening[0])
        await secret_and_refusal(stage, opening[0])
        await past_the_threshold(stage, [one for one in lessons if one not in opening])
        project.commit("Lessons of some weeks")
        before, originals = project.log_bytes(), project.records()
        offer = await what_to_compact(stage)
        last = await compaction(stage, offer)
        await what_is_left(stage, originals, last, query)
        pull_request(stage, before)


async def empty_memory(stage: Stage) -> None:
    """Play scene 1: a search of an empty memory."""
    stage.open("empty")
    answer = await stage.done("search_memory", query="payment")
    stage.screen.show(answer)
    questions = re.findall(r"^\d\. .+\?$", answer, re.MULTILINE)
    in_scratch = str(stage.project.root) in answer
    stage.claim(len(questions) == 3 and in_scratch and not stage.project.log_bytes(), "empty_ok")


async def first_lessons(stage: Stage, lessons: Sequence[Lesson]) -> str:
    """Play scene 2: the first records, and a Korean search that finds them. Return its query."""
    query = " ".join(hangul_words(lessons[-1]["missing_context"])[:3])
    stage.open("first", query=query)
    for lesson in lessons:
        stage.screen.show((await stage.done("log_memory", **lesson)).splitlines()[0])
    answer = await stage.done("search_memory", query=query)
    stage.screen.show(answer, at_most=24)
    texts = [text for lesson in lessons for text in lesson.values()]
    whole = all(line.strip() in answer for text in texts for line in text.splitlines())
    count = len(stage.project.records())
    stage.claim(whole and count == len(lessons), "first_ok", count=count)
    return query


async def same_gap_again(stage: Stage, lesson: Lesson) -> None:
    """Play scene 3: the same gap, logged twice, stays one record."""
    count = len(stage.project.records())
    stage.open("again")
    told = {**lesson, "lesson": f"{lesson['lesson']} {word(stage.lang, 'sharper')}"}
    answer = await stage.done("log_memory", **told)
    stage.screen.show(answer)
    match = re.match(sentence(stage.lang, "saved_again"), answer)
    records = stage.project.records()
    seen = [one["meta"].get("seen", 1) for one in records if one["lesson"] == told["lesson"]]
    counted = match is not None and match["seen"] == "2" and seen == [2]
    stage.claim(counted and len(records) == count, "again_ok", count=count)


async def secret_and_refusal(stage: Stage, lesson: Lesson) -> None:
    """Play scene 4: a secret is replaced before it is stored; a blank field changes nothing."""
    letters = string.ascii_letters + string.digits
    secret = "ghp" + "_" + "".join(random.choices(letters, k=36))
    stage.open("secret", chars=len(secret))
    answer = await stage.done(
        "log_memory",
        topic="ci",
        missing_context="The deploy job needs an access token, and none was named.",
        lesson=f"Read it from the CI secret store; never paste one like {secret} into a file.",
    )
    stored = stage.project.log_bytes()
    lesson_stored = str(stage.project.records()[-1]["lesson"])
    leaked = secret in answer or secret.encode("ascii") in stored
    # Checked first, so that nothing printed below holds the secret.
    stage.claim(not leaked and "[REDACTED]" in lesson_stored, "secret_ok")
    stage.screen.show(answer)
    stage.screen.say(word(stage.lang, "secret_stored"))
    stage.screen.show(lesson_stored)
    refusal = await stage.call("log_memory", **{**lesson, "missing_context": "  "})
    stage.screen.show(refusal.text)
    stage.claim(refusal.refused and stage.project.log_bytes() == stored, "refused_ok")


async def past_the_threshold(stage: Stage, lessons: Sequence[Lesson]) -> None:
    """Play scene 5: the notice comes with the first record above the threshold."""
    stage.open("fill", threshold=DEFAULT_THRESHOLD)
    count, first_at = len(stage.project.records()), 0
    for lesson in lessons:
        answer = await stage.done("log_memory", **lesson)
        count += 1
        notice = re.search(sentence(stage.lang, "compact_required"), answer, re.MULTILINE)
        if notice and not first_at:
            first_at = count
            stage.screen.show(answer)
    held = first_at == DEFAULT_THRESHOLD + 1 and len(stage.project.records()) == count
    stage.claim(held, "fill_ok", at=first_at, count=count)


async def what_to_compact(stage: Stage) -> str:
    """Play scene 6: groups, version ids, similar topics; nothing changes. Return the answer."""
    before, count = stage.project.log_bytes(), len(stage.project.records())
    stage.open("offer")
    answer = await stage.done("compact_memory")
    stage.screen.show(answer, at_most=26)
    groups = read_groups(answer, stage.lang)
    ids = {str(record["id"]) for record in stage.project.records()}
    tokens = [token for group in groups for token in group.tokens]
    known = bool(tokens) and all(token.partition("@")[0] in ids for token in tokens)
    pairs = len(similar_pairs(answer, groups, stage.lang, MERGED_FOR))
    stage.claim(
        known and stage.project.log_bytes() == before,
        "offer_ok",
        shown=len(tokens),
        count=count,
        pairs=pairs,
    )
    return answer


async def compaction(stage: Stage, answer: str) -> dict[str, Any]:
    """Play scene 7: one principle for each cluster of topics. Return the last save's arguments."""
    stage.open("compact", limit=LIMITS_BYTES["lesson"])
    saves = 0
    arguments: dict[str, Any] = {}
    while True:  # an answer may lack room for some topics
        groups = read_groups(answer, stage.lang)
        pairs = similar_pairs(answer, groups, stage.lang, MERGED_FOR)
        due = [some for some in clusters(groups, pairs) if len(some) > 1 or not some[0].compact]
        if not due:
            break
        for cluster in due:
            arguments, left_out = compose(cluster)
            tokens = [token for group in cluster for token in group.tokens]
            reply = await stage.done("log_memory", type="principle", **arguments)
            replaced = re.search(sentence(stage.lang, "replaced"), reply, re.MULTILINE)
            if not replaced or replaced["count"] != str(len(tokens)):
                raise DemoFailedError(reason=reply)
            topics = " + ".join(group.topic for group in cluster)
            facts: Facts = {"topics": topics, "count": len(tokens), "left_out": left_out}
            stage.screen.say(word(stage.lang, "compact_row", **facts))
            if not saves:
                stage.screen.show(str(arguments["lesson"]))
                stage.screen.show(reply)
            saves += 1
        answer = await stage.done("compact_memory")
    stage.screen.show(answer.splitlines()[0])
    principles = [one for one in stage.project.records() if one["type"] == "principle"]
    stage.claim(len(principles) == len(stage.project.records()) > 0, "compact_ok", count=saves)
    return arguments


async def what_is_left(
    stage: Stage, originals: Sequence[dict[str, Any]], last: dict[str, Any], query: str
) -> None:
    """Play scene 8: the originals are gone, a repeated save is harmless, a search finds all."""
    stage.open("after")
    records = stage.project.records()
    left = {record["id"] for record in originals} & {record["id"] for record in records}
    fewer = not left and len(records) < len(originals)
    stage.claim(fewer, "after_ok", before=len(originals), count=len(records))
    stage.screen.show(await stage.done("log_memory", type="principle", **last), at_most=6)
    stage.claim(_texts(stage.project.records()) == _texts(records), "retry_ok")
    answer = await stage.done("search_memory", query=query)
    stage.screen.show(answer)
    stage.claim(all(str(record["lesson"]) in answer for record in records), "found_ok")


def _texts(records: Sequence[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """Return the ids and texts of records, without dates and counters."""
    return [(record["id"], *(record.get(name) for name in FIELDS)) for record in records]


def pull_request(stage: Stage, before: bytes) -> None:
    """Play scene 9: the diff of the memory log, and its size before and after."""
    stage.open("diff")
    summary, text = stage.project.diff(before)
    stage.screen.show(summary, cut=True)
    gone, plus, new = text.partition("\n+{")
    stage.screen.show(gone, at_most=10, cut=True)
    stage.screen.show((plus + new).strip(), at_most=5, cut=True)
    after = stage.project.log_bytes()
    key = "diff_ok" if stage.project.has_git else "diff_no_git_ok"
    shown = text.count("\n-{") + text.count("\n+{")
    held = LOG_NAME in summary and shown > 0 and 0 < len(after) < len(before)
    stage.claim(held, key, before=len(before), after=len(after))
