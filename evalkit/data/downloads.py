"""Bring one file over HTTP, bounded in bytes, and tell what went wrong without the passwords in addresses."""

from __future__ import annotations

import time
from typing import IO, Any
from urllib.parse import urlsplit

from evalkit import DataError

_CONNECT, _READ = 3.0, 15.0  # seconds to wait for a connection, and for the next bytes
_TOLD = 200  # characters of each end of an address that messages show
_BLOCK = 1 << 16
_REST = 60.0  # seconds for which a host that did not answer is not asked again
_silent: dict[str, float] = {}  # hosts that did not answer, and when: without a network, wait once and not per file
#: Bytes as they lie on the server: what is packed for the way can unfold to anything.
_PLAIN = {"Accept-Encoding": "identity"}
#: What helps where a server does not.
HINT = "Check the network, or set EVALKIT_DATA_MIRROR to a folder or address that has the file."


def shown(url: str) -> str:
    """Write an address without the name and password in it, however they are written.

    >>> shown("https://me:pa/ss@word@example.org/a.csv"), shown("https://example.org/a.csv")
    ('https://…@example.org/a.csv', 'https://example.org/a.csv')
    """
    secret, at, rest = url.rpartition("@")
    told = f"{secret.partition('://')[0]}://…@{rest}" if at else url
    return told if len(told) < 2 * _TOLD else f"{told[:_TOLD]}…{told[-_TOLD:]}"


def checked(address: str, *, name: str) -> str:
    """Return the address of a web server's folder, or say what is wrong with it, without its password.

    name: what the user calls it. Raises DataError where it cannot be the beginning of a file's address.
    """
    try:
        parts = urlsplit(address)
        fit = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        fit = fit and "@" not in parts.path  # the end of a password with a / in it
    except ValueError:  # a port that is no number, half an IPv6 address
        fit = False
    if not fit or parts.query or parts.fragment or any(sign.isspace() or not sign.isprintable() for sign in address):
        raise DataError(
            f"{name} is neither a folder that is here nor the address of one. Write it like https://host/folder; in a "
            "name or password write %40 for @, %2F for /, %3A for :, %3F for ?, %23 for #."
        )
    return address


def bring(url: str, sink: IO[bytes], *, most: int, progress: Any = None) -> None:
    """Write what a server gives for an address into ``sink``.

    most: bytes after which it is stopped. progress: is told the bytes that came (``update``).
    Raises DataError, without what may be secret in the address, where the file does not come whole.
    """
    host = urlsplit(url).hostname or ""
    failed = f"{shown(url)} could not be fetched:"
    if time.monotonic() - _silent.get(host, float("-inf")) < _REST:
        raise DataError(f"{failed} {host} did not answer a moment ago. {HINT}")
    if problem := _taken(url, host, sink, most, progress):
        raise DataError(f"{failed} {problem}")  # outside any except: its context would tell the password


def _taken(url: str, host: str, sink: IO[bytes], most: int, progress: Any) -> str:
    """Write what comes; tell what went wrong, and what to do. An error of the disk is the caller's."""
    import requests
    import urllib3

    came = 0
    try:
        with requests.get(url, headers=_PLAIN, stream=True, timeout=(_CONNECT, _READ)) as response:
            if response.status_code != 200:  # also 206, 204 and the like: no error, and not the file either
                return f"the server answers {response.status_code}. {HINT}"
            for block in response.raw.stream(_BLOCK, decode_content=False):
                came += len(block)
                if came > most:
                    return f"the download was stopped after {most} bytes, for there should be no more. {HINT}"
                sink.write(block)
                if progress is not None:
                    progress.update(len(block))
    except requests.TooManyRedirects:
        return f"the server sends on from address to address without end. {HINT}"
    except (requests.ConnectionError, requests.Timeout) as problem:
        _silent[host] = time.monotonic()
        return f"{host} does not answer ({type(problem).__name__}). {HINT}"
    except (urllib3.exceptions.TimeoutError, urllib3.exceptions.ProtocolError) as problem:
        return f"its answer broke off ({type(problem).__name__}). Try again; nothing half-done was kept."
    except (requests.RequestException, urllib3.exceptions.HTTPError, ValueError) as problem:
        kind = type(problem).__name__
        return f"the server's answer, or an address that it sends on to, is malformed ({kind}). {HINT}"
    return ""
