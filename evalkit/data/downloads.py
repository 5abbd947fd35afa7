"""Bring one file over HTTP from a server that may do anything: bounded in bytes, in time and in what is told of it.

Asking is the business of a thread of its own, which is given up where too little comes, whatever it waits for: a name,
a connection, headers without end, a byte a second. Whoever waits for it can be stopped at once.
"""

from __future__ import annotations

import http.client
import socket
import threading
import time
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from evalkit import DataError

if TYPE_CHECKING:
    import requests

_RESOLVE, _CONNECT, _READ = 3.0, 3.0, 15.0  # seconds to wait for a name, a connection, the next bytes
_SPAN, _LEAST = 30.0, 48 << 10  # seconds in each of which so many bytes come, unless the file ends before
_WHOLE = 6 * 3600.0  # seconds for a whole file, of which the largest have gigabytes
_REDIRECTS = 10
_TOLD = 200  # characters of each end of an address that messages show
_BLOCK = 1 << 14
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


def bring(url: str, sink: IO[bytes], *, most: int, progress: Any = None) -> str:
    """Write what a server gives for an address into ``sink``, and return the type that the server says it has.

    most: bytes after which it is stopped. progress: is told the bytes that came (``update``).
    Raises DataError, without what may be secret in the address, where the file does not come whole and in time.
    """
    host = urlsplit(url).hostname or ""
    failed = f"{shown(url)} could not be fetched:"
    if time.monotonic() - _silent.get(host, float("-inf")) < _REST:
        raise DataError(f"{failed} {host} did not answer a moment ago. {HINT}")
    taken = _Bounded(sink, most, progress)
    types: list[str] = []
    problem = _watched(lambda: types.append(_taken(url, taken)), taken)
    if isinstance(problem, OSError) and problem in taken.refused:  # the disk's doing, not the server's
        raise problem
    if problem is not None:
        raise DataError(f"{failed} {_reason(problem, host)}")  # outside any except: its context would tell the password
    return types[0]


def _watched(work: Callable[[], None], taken: _Bounded) -> Exception | None:
    """Do work on a thread of its own and return what stopped it; give it up where too little comes."""
    outcome: list[Exception] = []

    def run() -> None:
        try:
            work()
        except Exception as problem:  # told by whoever waits
            outcome.append(problem)

    thread = threading.Thread(target=run, daemon=True)
    begun, before = time.monotonic(), 0
    thread.start()
    try:
        while True:
            thread.join(_SPAN)
            if not thread.is_alive():
                return outcome[0] if outcome else None
            if taken.came - before < _LEAST:
                return _Late(f"only {taken.came - before} bytes came in {_SPAN:g} seconds")
            if time.monotonic() - begun > _WHOLE:
                return _Late(f"it takes longer than {_WHOLE / 3600:g} hours")
            before = taken.came
    finally:
        taken.stopped = True  # whatever still comes is nobody's


class _Late(Exception):
    """A server that gives too little in too much time."""


class _Stop(Exception):
    """Nobody waits for these bytes, or there are too many of them."""


class _Broken(Exception):
    """An answer that ends before its end, or is malformed after its headers."""


class _Bounded:
    """Pass bytes on to a file until there are more than there may be, or nobody waits for them any more."""

    def __init__(self, sink: IO[bytes], most: int, progress: Any):
        self.sink, self.most, self.progress = sink, most, progress
        self.came, self.stopped = 0, False
        self.refused: list[OSError] = []

    def demand(self) -> None:
        """Stop where nobody waits any more."""
        if self.stopped:
            raise _Stop("nobody waits")

    def write(self, block: bytes) -> None:
        """Write bytes that came, unless they are too many."""
        self.demand()
        self.came += len(block)
        if self.came > self.most:
            raise _Stop(f"the download was stopped after {self.most} bytes, for there should be no more")
        try:
            self.sink.write(block)
        except OSError as problem:
            self.refused.append(problem)
            raise
        if self.progress is not None:
            self.progress.update(len(block))


def _taken(url: str, taken: _Bounded) -> str:
    """Ask for a file and write what comes, as it comes; return the type that the server says it has."""
    import requests

    _resolve(url)
    with requests.Session() as session:
        adapter = _careful(taken)
        session.mount("http://", adapter)
        session.mount("https://", adapter)
        with _answer(session, url) as response:
            return _body(response, taken)


def _body(response: requests.Response, taken: _Bounded) -> str:
    """Write an answer's content as it comes; return the type that the server says it has."""
    import requests

    if response.status_code != 200:  # also 206, 204 and the like: no error, and not the file either
        raise requests.HTTPError(response=response)
    while block := _block(response):
        taken.write(block)
    return response.headers.get("Content-Type", "")


def _block(response: requests.Response) -> bytes:
    """Read the next bytes as they are on the server; every way in which that fails is an answer that broke off."""
    try:
        return response.raw.read(_BLOCK, decode_content=False)
    except _Stop:
        raise
    except Exception as problem:
        raise _Broken(type(problem).__name__) from None


def _careful(taken: _Bounded) -> requests.adapters.HTTPAdapter:
    """Make what connects to servers read their answers only while somebody waits, and never without a bound."""
    from requests.adapters import HTTPAdapter

    class Reply(http.client.HTTPResponse):
        def __init__(self, *args: Any, **options: Any):
            super().__init__(*args, **options)
            self.fp: Any = _Awaited(self.fp, taken)

    class Adapter(HTTPAdapter):
        def get_connection_with_tls_context(self, *args: Any, **options: Any) -> Any:
            pool: Any = super().get_connection_with_tls_context(*args, **options)
            pool.ConnectionCls = type("Connection", (pool.ConnectionCls,), {"response_class": Reply})
            return pool

    return Adapter()


class _Awaited:
    """The stream of an answer, as long as somebody waits for it."""

    def __init__(self, stream: Any, taken: _Bounded):
        self.stream, self.taken = stream, taken

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    def readline(self, size: int) -> bytes:
        self.taken.demand()
        return self.stream.readline(size)

    def read(self, size: int = -1) -> bytes:
        self.taken.demand()
        if size is None or size < 0:  # a chunk of negative length would be read for ever
            raise http.client.HTTPException("an answer without a length")
        return self.stream.read(size)


def _answer(session: requests.Session, url: str) -> requests.Response:
    """Ask for an address, following redirects without reading what comes with them, which may be without end."""
    import requests

    credentials: dict[str, str] = {}
    for _ in range(_REDIRECTS):
        asked = session.prepare_request(requests.Request("GET", url, headers=_PLAIN))
        asked.headers.update(credentials)
        here = str(asked.url)
        settings: Any = session.merge_environment_settings(here, {}, True, None, None)
        response = session.get_adapter(here).send(asked, timeout=(_CONNECT, _READ), **settings)
        if (target := session.get_redirect_target(response)) is None:
            return response
        response.close()
        url = urljoin(here, target)
        kept = "Authorization" in asked.headers and not session.should_strip_auth(here, url)
        credentials = {"Authorization": asked.headers["Authorization"]} if kept else {}
    raise requests.TooManyRedirects


def _reason(problem: Exception, host: str) -> str:
    """Say in a sentence what a server did, and what to do; note hosts that do not answer at all."""
    import requests

    if isinstance(problem, (_Late, _Stop)):
        return f"{problem}. Ask who runs the server why. {HINT}"
    if isinstance(problem, requests.HTTPError):
        return f"the server answers {problem.response.status_code}. {HINT}"
    if isinstance(problem, (requests.ConnectionError, requests.Timeout)):
        _silent[host] = time.monotonic()
        return f"{host} does not answer ({type(problem).__name__}). {HINT}"
    if isinstance(problem, requests.TooManyRedirects):
        return f"the server sends on from address to address, more than {_REDIRECTS} times. {HINT}"
    if isinstance(problem, _Broken):
        return f"its answer broke off ({problem}). Try again; nothing half-done was kept."
    return f"the server's answer, or an address that it sends on to, is malformed ({type(problem).__name__}). {HINT}"


def _resolve(url: str) -> None:
    """Find that a host has no address within seconds, where the system's own search may take a minute."""
    import requests

    server = urlsplit(requests.utils.select_proxy(url, requests.utils.get_environ_proxies(url)) or url)
    outcome: list[Exception | None] = []

    def look() -> None:
        try:
            socket.getaddrinfo(server.hostname, server.port or 443)
            outcome.append(None)
        except (OSError, ValueError) as problem:
            outcome.append(problem)

    search = threading.Thread(target=look, daemon=True)
    search.start()
    search.join(_RESOLVE)
    if outcome != [None]:
        raise requests.ConnectionError(f"no address for {server.hostname}")
