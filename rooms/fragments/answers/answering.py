"""Does what the tools of the fragments are called for, and answers in the form that is asked for.

It stands apart from the tools since most starts of a server see no call.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

from core.lessons.record_text import as_json
from core.messages import say
from core.room.one_list import Gathered
from core.text.plain import Budget, estimate_tokens
from rooms.fragments.answers import changed, explored, numbers, recalled, remembered, restored
from rooms.fragments.answers.frame import Frame
from rooms.fragments.answers.lines import is_order
from rooms.fragments.answers.objects import whole_object
from rooms.fragments.fragment import SOURCE_CHARS, ToolFeedback, Version
from rooms.fragments.recall.context import restore_context
from rooms.fragments.recall.links import explore
from rooms.fragments.recall.recalling import Query, gathered, recall
from rooms.fragments.recall.using import count_later
from rooms.fragments.room import readers, repeats_when_cut
from rooms.fragments.saving.amending import Amendment, amend
from rooms.fragments.saving.drafting import Draft
from rooms.fragments.saving.feedback import give_feedback
from rooms.fragments.saving.finding import visible
from rooms.fragments.saving.forgetting import forget, pin
from rooms.fragments.saving.linking import link
from rooms.fragments.saving.reflecting import Reflection, reflect
from rooms.fragments.saving.remembering import remember

INJECTED = 5  # fragments in the prompt


class Unasked(Frame):
    """What a model is shown unasked. Every method raises FragmentsError, DatabaseError."""

    def gathered(self, question: str) -> Gathered:
        """Return what may answer a question, but for what reads like an order to a model."""
        session = self._offer.session
        found = gathered(self._room, question, session=session, line=self._scene.line)
        return found._replace(entries=[it for it in found.entries if not is_order(it.what)])

    def injected(self, query: str, budget: Budget) -> list[str]:
        """Return lines for a prompt: those that answer a question, without one those worth most."""
        scene, heading = self._scene, say("fragments.answers.prompt_head")
        budget.spend(heading)
        asked = Query(text=query, tokens=max(int(budget.tokens), 1), limit=INJECTED)
        found = recall(
            self._room, replace(asked, with_links=False), session=self._offer.session,
            line=scene.line,
        )  # fmt: skip
        harmless = (it for it in found.fragments if not is_order(it))
        lines = [line for it in harmless if budget.take(line := scene.line(it))]
        return [heading, *lines] if lines else []


class Call(Unasked):
    """What one call works with. Every method raises FragmentsError, DatabaseError."""

    def remember(self, draft: Draft, *, agent: str) -> str:
        """Keep a fragment; one without a source is of the project."""
        source = draft.source.strip() or self._offer.project[:SOURCE_CHARS]
        draft = replace(draft, source=source)
        done = remember(self._room, draft, agent=agent, session=self._offer.session)
        core_only = self._offer.core_only
        return self._answer(
            lambda: remembered.text(done, core_only=core_only),
            lambda: remembered.declared(done, core_only=core_only),
        )

    def recall(self, query: Query, *, agent: str) -> str:
        """Answer a question, within the budget of its tokens."""
        frame = estimate_tokens(say("fragments.answers.left_out", count=100_000))
        line = cache(self._line(self._scene))  # first for the budget, then for the answer
        found = recall(
            self._room,
            replace(query, tokens=self._rest(query.tokens, frame)),
            agent=agent,
            session=self._offer.session,
            line=line,
            count=count_later,
            beside=self._offer.beside,
        )
        is_empty = query == Query(tokens=query.tokens, with_links=query.with_links)
        return self._answer(
            lambda: recalled.text(found, line, is_empty=is_empty),
            lambda: recalled.declared(found),
        )

    def forget(self, *, id_: str, topic: str, force: bool, hard: bool, agent: str) -> str:
        """Move fragments to the bin, or away."""
        done = forget(self._room, id=id_, topic=topic, force=force, hard=hard, agent=agent)
        return self._answer(
            lambda: changed.forgotten_text(done, is_served=self._is_served),
            lambda: changed.forgotten(done),
        )

    def link(self, from_id: str, to_id: str, relation: str, *, agent: str) -> str:
        """Relate two fragments."""
        done = link(self._room, from_id, to_id, relation, agent=agent)
        return self._answer(lambda: changed.linked_text(done), lambda: changed.linked(done))

    def amend(self, amendment: Amendment, *, agent: str) -> str:
        """Correct a fragment."""
        done = amend(self._room, amendment, agent=agent, session=self._offer.session)
        return self._answer(lambda: changed.amended_text(done), lambda: changed.amended(done))

    def reflect(self, reflection: Reflection, *, agent: str) -> str:
        """Keep what a session brought."""
        given = replace(reflection, source=self._offer.project[:SOURCE_CHARS])
        done = reflect(self._room, given, agent=agent, session=self._offer.session)
        return self._answer(
            lambda: remembered.reflected_text(done), lambda: remembered.reflected(done)
        )

    def context(self, *, tokens: int, types: Sequence[str], agent: str) -> str:
        """Answer with what to know before any work."""
        scene = self._scene
        found = restore_context(
            self._room,
            tokens=self._rest(tokens, restored.frame_tokens()),
            types=tuple(types),
            session=self._offer.session,
            agent=agent,
            line=self._line(scene),
        )
        return self._answer(
            lambda: restored.text(found, scene), lambda: restored.declared(found, scene)
        )

    def tool_feedback(self, feedback: ToolFeedback) -> str:
        """Note what a tool was worth."""
        give_feedback(self._room, replace(feedback, session_id=self._offer.session))
        return self._answer(lambda: say("fragments.answers.noted"), lambda: {"success": True})

    def memory_stats(self) -> str:
        """Answer with counts."""
        from rooms.fragments.upkeep.statistics import statistics_of  # few sessions ask

        counted = statistics_of(self._room)
        return self._answer(lambda: numbers.text(counted), lambda: numbers.declared(counted))

    def memory_consolidate(
        self, progress: Callable[[int, int, str], object], *, waits: bool = True
    ) -> str:
        """Carry out the upkeep. waits: for another call that does; else UpkeepError."""
        from rooms.fragments.answers import upkept  # few sessions ask
        from rooms.fragments.embeddings.embedder import embedder_of
        from rooms.fragments.judging.judge import judge_of
        from rooms.fragments.upkeep.consolidating import consolidate, in_turn

        judge, embedder = judge_of(os.environ), embedder_of(os.environ)
        with in_turn(waits=waits):
            report = consolidate(self._room, progress=progress, judge=judge, embedder=embedder)
        scene = self._scene
        return self._answer(lambda: upkept.text(report, scene), lambda: upkept.declared(report))

    def graph_explore(self, start_id: str, *, agent: str) -> str:
        """Answer with causes and cures."""
        found = explore(self._room, start_id, agent=agent)
        scene = self._scene
        budget = Budget(self._settings.budget_tokens, self._settings.budget_chars)
        return self._answer(
            lambda: explored.text(found, scene, budget), lambda: explored.declared(found, budget)
        )

    def pin(self, id_: str, *, pinned: bool) -> str:
        """Pin a fragment, or let it age again."""
        done = pin(self._room, id_, pinned=pinned)
        return self._answer(lambda: changed.pinned_text(done), lambda: changed.pinned(done))

    @repeats_when_cut
    def whole(self, id_: str) -> str:
        """Answer with one fragment as JSON, whatever state it is in. Raises NoSuchFragmentError."""
        with self._room.engine.reading() as reading:
            fragment = visible(reading, id_, readers(self._room, ""))
            links = reading.links([fragment.id])
            versions = reading.entries(Version, of=fragment.id)
            return as_json(whole_object(fragment, links, versions))
