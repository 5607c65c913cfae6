"""Writes fragments as objects with the names of the specification's columns."""

from collections.abc import Iterable
from typing import Any

from rooms.fragments.answers.lines import is_order
from rooms.fragments.fragment import Fragment, Link, Version


def as_object(fragment: Fragment) -> dict[str, Any]:
    """Return a fragment as the object that a recall gives."""
    told: dict[str, Any] = {
        "id": fragment.id,
        "content": fragment.content,
        "topic": fragment.topic,
        "keywords": list(fragment.keywords),
        "type": fragment.kind,
        "lifetime": fragment.lifetime,
        "importance": round(fragment.importance, 4),
        "source": fragment.source,
        "agent_id": fragment.agent,
        "ttl_tier": fragment.tier,
        "is_anchor": fragment.is_anchor,
        "privacy_scope": fragment.privacy,
        "access_count": fragment.access_count,
        "accessed_at": fragment.accessed_at,
        "created_at": fragment.created_at,
        "verified_at": fragment.verified_at,
    }
    rare = {
        "session_id": fragment.session,
        "expires_at": fragment.expires_at,
        "superseded_at": fragment.superseded_at,
        "promoted": fragment.record_id,
        "deleted_at": fragment.deleted_at,
        "reads_like_order": is_order(fragment),
    }
    return told | {key: value for key, value in rare.items() if value}


def whole_object(
    fragment: Fragment, links: Iterable[Link], versions: Iterable[Version]
) -> dict[str, Any]:
    """Return a fragment with its links and with what it said before."""
    return {
        **as_object(fragment),
        "links": [link_object(it) for it in links],
        "versions": [version_object(it) for it in versions],
    }


def link_object(link: Link) -> dict[str, Any]:
    """Return a link as a row of the specification's table."""
    return {
        "from_id": link.from_id,
        "to_id": link.to_id,
        "relation_type": link.relation,
        "created_at": link.created_at,
    }


def version_object(version: Version) -> dict[str, Any]:
    """Return a version as a row of the specification's table."""
    return {
        "content": version.content,
        "topic": version.topic,
        "keywords": list(version.keywords),
        "type": version.kind,
        "importance": version.importance,
        "amended_at": version.amended_at,
        "amended_by": version.amended_by,
    }
