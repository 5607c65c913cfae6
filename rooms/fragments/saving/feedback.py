"""Notes whether the answer of a tool was of use."""

from dataclasses import replace

from core.config import NAME_CHARS
from rooms.fragments.errors import SavingError
from rooms.fragments.fragment import SITUATION_CHARS, SUGGESTION_CHARS, ToolFeedback
from rooms.fragments.room import Room, named, writer
from rooms.fragments.saving import activity
from rooms.fragments.saving.texts import Given, cleaned

TRIGGERS = "voluntary", "sampled"


def give_feedback(room: Room, feedback: ToolFeedback) -> None:
    """Note a feedback, of now unless it has a moment. Raises FragmentsError, DatabaseError."""
    trigger = feedback.trigger_type.strip().lower() or TRIGGERS[0]
    if trigger not in TRIGGERS:
        raise SavingError("bad_trigger", known=", ".join(TRIGGERS))
    session = named("session_id", feedback.session_id)
    given = [
        Given("tool_name", feedback.tool_name, NAME_CHARS, may_be_blank=False),
        Given("suggestion", feedback.suggestion, SUGGESTION_CHARS),
        Given("context", feedback.context, SITUATION_CHARS),
    ]
    tool_name, suggestion, context = cleaned(given, strict=room.settings.strict).texts
    done = replace(
        feedback,
        tool_name=tool_name,
        suggestion=suggestion,
        context=context,
        session_id=session,
        trigger_type=trigger,
        created_at=feedback.created_at or room.clock(),
        agent=writer(room, ""),
    )
    with room.engine.writing() as writing:
        writing.note([done])
        activity.note(writing, room, session, "")
