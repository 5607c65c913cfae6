"""Says whether a fragment that was read is one of those that are meant."""

from core.text.plain import end_of
from rooms.fragments.fragment import Fragment, Wanted, plain_keyword


class Fitting:
    """What `Wanted` asks of a live fragment, for fragments that an index has found.

    now: what has expired by then is no more. working_of: the session whose working memory counts;
    "" for that of all. working_by: the agent that it must be of, "" for any: two agents may have
    sessions of one name.
    """

    def __init__(
        self, wanted: Wanted, *, now: str = "", working_of: str = "", working_by: str = ""
    ) -> None:
        self._wanted, self._now = wanted, now
        self._working_of, self._working_by = working_of, working_by
        self._topics = frozenset(map(plain_keyword, wanted.topics))
        self._keywords = frozenset(map(plain_keyword, wanted.keywords))

    def __call__(self, fragment: Fragment) -> bool:
        """Return whether it has all of it."""
        asked, it = self._wanted, fragment
        return (
            it.is_live
            and self.is_current(it)
            and (not asked.agents or it.agent in asked.agents)
            and (not asked.kinds or it.kind in asked.kinds)
            and (not asked.lifetimes or it.lifetime in asked.lifetimes)
            and (not asked.tiers or it.tier in asked.tiers)
            and (not self._topics or plain_keyword(it.topic) in self._topics)
            and (not self._keywords or self._keywords.issubset(map(plain_keyword, it.keywords)))
            and asked.session in ("", it.session)
            and asked.source in ("", it.source)
            and asked.privacy in ("", it.privacy)
            and asked.since <= it.created_at
            and (not asked.until or it.created_at < end_of(asked.until))
            and asked.is_anchor in (None, it.is_anchor)
            and it.number > asked.after
        )

    def is_current(self, fragment: Fragment) -> bool:
        """Return whether its time has not passed, and it is no working memory of others."""
        if fragment.session:
            own = self._working_of or fragment.session, self._working_by or fragment.agent
            if (fragment.session, fragment.agent) != own:
                return False
        return fragment.is_anchor or not fragment.expires_at or self._now < fragment.expires_at
