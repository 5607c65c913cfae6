"""Tells which hosts are this machine."""

import ipaddress


def is_loopback(host: str) -> bool:
    """Return whether a host, as in a URI, is this machine and no other reaches it."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
