"""Stands in for a person with a browser who is asked by the page of consent, and types a key.

A client that logs in starts it as `$BROWSER ADDRESS`, with the key in CONSENT_KEY.
"""

import html
import os
import re
import sys
import time
from contextlib import suppress
from urllib.error import URLError
from urllib.parse import urlencode, urljoin
from urllib.request import HTTPCookieProcessor, build_opener, urlopen

NEXT = re.compile(r'http-equiv="refresh" content="0;url=([^"]+)"')
TXN = re.compile(r'name="txn" value="([^"]+)"')


def answered(address: str, key: str) -> str:
    """Open an address and type the key on its page; return where the answer leads."""
    browser = build_opener(HTTPCookieProcessor())
    with browser.open(address) as page:
        [txn] = TXN.findall(page.read().decode())
        form = urlencode({"txn": txn, "key": key, "answer": "allow"}).encode()
    with browser.open(urljoin(page.url, "/consent"), form) as going_on:
        [back] = NEXT.findall(going_on.read().decode())
    return html.unescape(back)


def agree(address: str, key: str) -> None:
    """Do the same, and go there."""
    back = answered(address, key)
    for wait_s in (0.1, 0.4, 1.5):  # a client may only be about to listen
        with suppress(URLError):
            urlopen(back).close()
            return
        time.sleep(wait_s)
    urlopen(back).close()


if __name__ == "__main__":
    agree(sys.argv[1], os.environ["CONSENT_KEY"])
