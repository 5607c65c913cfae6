"""Writes what context_export answers: the document, or where it is."""

from typing import Any, Literal

from core.messages import say
from core.text.plain import one_line

Form = Literal["markdown", "json", "html"]


def text(document: str, path: str, count: int) -> str:
    """Return the document, or the name of the file that has it."""
    return say("sessions.answers.exported", count=count, path=one_line(path)) if path else document


def declared(document: str, path: str, count: int) -> dict[str, Any]:
    """Return the object ContextExportOutput."""
    told = {"filePath": path} if path else {"content": document}
    return {**told, "exportedCount": count}
