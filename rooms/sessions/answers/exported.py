"""Writes what context_export answers: the document, or where it is."""

from typing import Any

from core.messages import Language
from core.settings import Settings
from core.text.printable import one_line
from core.text.tokens import estimate_tokens
from rooms.sessions.answers.words import say
from rooms.sessions.errors import SessionsError


def check_length(document: str, count: int, settings: Settings) -> None:
    """Raise SessionsError where a document of so many sessions is too long for an answer."""
    most_chars, most_tokens = settings.budget_chars, settings.budget_tokens
    if len(document) > most_chars or estimate_tokens(document) > most_tokens:
        raise SessionsError("export_too_long", count=count)


def text(document: str, path: str, count: int, lang: Language) -> str:
    """Return the document, or the name of the file that has it."""
    return say(lang, "exported", count=count, path=one_line(path)) if path else document


def declared(document: str, path: str, count: int) -> dict[str, Any]:
    """Return the object ContextExportOutput."""
    told = {"filePath": path} if path else {"content": document}
    return {**told, "exportedCount": count}
