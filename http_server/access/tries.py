"""Limits how often somebody may be wrong, by address and in all.

A secret that is right is let in whatever others at its address have tried, so that one client with
an old key does not lock out an office. Only the key of the environment, which a person has chosen
and another could guess, has to wait where too many were wrong, and much later where it was right
before: an address may be that of many, one of whom guesses.
"""

import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable

_MOST_ADDRESSES = 10_000  # remembered; the one that was longest not seen goes
_V6_PREFIX = 64  # of one subscriber
_RIGHT_FOR_S = 86_400.0


class Allowance:
    """So many at once, then one each `every_s` seconds, for each of several names.

    Used from one thread. A name that is forgotten, being one of too many, begins anew.
    """

    def __init__(
        self,
        at_once: int,
        every_s: float,
        *,
        most: int = _MOST_ADDRESSES,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._span_s, self._every_s = at_once * every_s, every_s
        self._most, self._clock = most, clock
        self._full_at: OrderedDict[str, float] = OrderedDict()  # when nothing of it is used up

    def wait_s(self, name: str) -> float:
        """Return in how many seconds there is one more, 0 where there is now."""
        now = self._clock()
        return max(0.0, self._full_at.get(name, now) + self._every_s - now - self._span_s)

    def take(self, name: str) -> float:
        """Use one up where there is one; return how many seconds to wait where there is none."""
        if wait_s := self.wait_s(name):
            return wait_s
        now = self._clock()
        self._full_at[name] = max(self._full_at.get(name, now), now) + self._every_s
        self._full_at.move_to_end(name)
        if len(self._full_at) > self._most:
            self._full_at.popitem(last=False)
        return 0.0


class Tries:
    """Wrong secrets: twenty at once and ten a minute by address, a thousand and five a second."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._of_address = Allowance(20, 6.0, clock=clock)
        self._of_all = Allowance(1_000, 0.2, clock=clock)
        self._where_right = Allowance(1_000, 1.0, clock=clock)
        self._right: OrderedDict[str, float] = OrderedDict()

    def wrong(self, address: str) -> float:
        """Note a wrong secret; return how many seconds to wait, 0 while there are tries left."""
        group = group_of(address)
        self._where_right.take(group)
        return max(self._of_address.take(group), self._of_all.take(""))

    def right(self, address: str) -> None:
        """Note that somebody at this address has the key of the environment."""
        group = group_of(address)
        self._right[group] = self._clock()
        self._right.move_to_end(group)
        if len(self._right) > _MOST_ADDRESSES:
            self._right.popitem(last=False)

    def wait_s(self, address: str) -> float:
        """Return how many seconds a key that could be guessed waits at this address."""
        group = group_of(address)
        if self._clock() - self._right.get(group, float("-inf")) < _RIGHT_FOR_S:
            return self._where_right.wait_s(group)
        return max(self._of_address.wait_s(group), self._of_all.wait_s(""))


def group_of(address: str) -> str:
    """Return what is counted as one: an IPv4 address, or the network of an IPv6 address."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address[:64]
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped:
            return str(found.ipv4_mapped)
        return str(ipaddress.ip_network((found, _V6_PREFIX), strict=False))
    return str(found)
