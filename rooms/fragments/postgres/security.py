"""Says who sees and changes which rows, as statements: roles, rights, and a policy for each table.

`sentinel_room` has what one agent has: it sees its own fragments and those of `default`, and
changes its own alone. `sentinel_upkeep` owns the tables and sees all rows; the program takes it for
what no agent asks for. Neither logs in, and no name that an agent gives itself means anything.
"""

from core.postgres.pool import AGENT_SETTING, ROOM_ROLE
from core.postgres.pool import UPKEEP_ROLE as UPKEEP_ROLE

ROLES = (ROOM_ROLE, UPKEEP_ROLE)
_ME = f"current_setting('{AGENT_SETTING}', true)"
_OWN = f"agent_id = {_ME}"
_SEEN = f"agent_id = ANY (ARRAY[{_ME}, 'default'])"


def _fragment(column: str, more: str = "") -> str:
    return f"EXISTS (SELECT FROM agent_memory.fragments f WHERE f.id = {column}{more})"


def _pair(first: str, second: str) -> tuple[str, str]:
    """Return when a row about two fragments is seen, and when it may be written."""
    both = f"{_fragment(first)} AND {_fragment(second)}"
    own = f" AND f.agent_id = {_ME}"
    return both, f"{both} AND ({_fragment(first, own)} OR {_fragment(second, own)})"


_LINKS, _PAIRS = _pair("from_id", "to_id"), _pair("first_id", "second_id")
_OWN_VERSION = _fragment("fragment_id", f" AND f.agent_id = {_ME}")

# By table, what an agent sees and what it may write; a table that is not here is upkeep's alone.
POLICIES: dict[str, tuple[str, str]] = {
    "fragments": (_SEEN, _OWN),
    "fragment_terms": (_SEEN, _OWN),
    "fragment_links": _LINKS,
    "fragment_versions": (_fragment("fragment_id"), _OWN_VERSION),
    "tool_feedback": (_OWN, _OWN),
    "task_feedback": (_OWN, _OWN),
    "activities": (_OWN, _OWN),
    "suspicions": _PAIRS,
    "revisions": (_SEEN, _OWN),
    "state": (f"agent_id = ANY (ARRAY[{_ME}, ''])", f"{_OWN} AND agent_id <> ''"),
    "schema_version": ("true", ""),
}
UPKEEP_ONLY = ("papers",)
TABLES = (*POLICIES, *UPKEEP_ONLY)


def make_role(name: str) -> str:
    """Return the statement that makes a role; another database of the server may have made it."""
    return (
        f"DO $$ BEGIN CREATE ROLE {name} NOLOGIN NOSUPERUSER NOBYPASSRLS NOCREATEROLE NOCREATEDB;"
        " EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$"
    )


def grant_role(name: str, user: str) -> str:
    """Return the statement that lets a user take a role. user: as it stands in a statement."""
    return f"GRANT {name} TO {user}"


def statements() -> list[str]:
    """Return what secures the tables, to be run by their owner; run again it changes nothing."""
    secured = [
        f"REVOKE ALL ON SCHEMA agent_memory FROM PUBLIC, {ROOM_ROLE}",
        f"REVOKE ALL ON ALL TABLES IN SCHEMA agent_memory FROM PUBLIC, {ROOM_ROLE}",
        f"REVOKE ALL ON ALL FUNCTIONS IN SCHEMA agent_memory FROM PUBLIC, {ROOM_ROLE}",
        f"GRANT USAGE ON SCHEMA agent_memory TO {ROOM_ROLE}",
    ]
    for table in TABLES:
        name = f"agent_memory.{table}"
        secured += [
            f"ALTER TABLE {name} ENABLE ROW LEVEL SECURITY",
            f"ALTER TABLE {name} FORCE ROW LEVEL SECURITY",
            _policy(name, "upkeep", "ALL", UPKEEP_ROLE, "true", "true"),
        ]
    for table, (seen, written) in POLICIES.items():
        name = f"agent_memory.{table}"
        secured += [
            f"GRANT SELECT{', INSERT, UPDATE, DELETE' if written else ''} ON {name} TO {ROOM_ROLE}",
            _policy(name, "room_sees", "SELECT", ROOM_ROLE, seen, ""),
        ]
        if written:
            secured += [
                _policy(name, "room_adds", "INSERT", ROOM_ROLE, "", written),
                _policy(name, "room_changes", "UPDATE", ROOM_ROLE, written, written),
                _policy(name, "room_removes", "DELETE", ROOM_ROLE, written, ""),
            ]
    return secured


def _policy(table: str, name: str, verb: str, role: str, using: str, check: str) -> str:
    """Return the statement that makes a policy anew, in one, so that it is never missing."""
    parts = [f"USING ({using})"] if using else []
    parts += [f"WITH CHECK ({check})"] if check else []
    made = f"CREATE POLICY {name} ON {table} FOR {verb} TO {role} {' '.join(parts)}"
    return f"DROP POLICY IF EXISTS {name} ON {table}; {made}"
