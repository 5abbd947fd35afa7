"""The door of downloads: servers whose answers are damaged, or lie, and mirrors whose addresses are malformed.

No server runs. A connection is one end of a pair of sockets into whose other end the answer was written before, so that
nothing is waited for. Of each file is known what an honest server gives: what comes into the cache is held against it.
"""

from __future__ import annotations

import base64
import contextlib
import gzip
import hashlib
import io
import itertools
import logging
import os
import socket
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

import numpy as np

from evalkit import DataError
from evalkit.data import downloads, files
from evalkit.data.registry import File

SECRET = "hunter2"
PAIR = base64.b64encode(f"me:{SECRET}".encode())
BYTES = [b"", b"\0", b"\xff\xfe", b"\r\n", b" ", b"\x1b[31m", "é²٣".encode(), b"A" * 70_000, b"-1", b"0x10", b"1_0"]
STATUS = b"""HTTP/1.1|HTTP/1.1 abc|HTTP/9.9 200 OK|ICY 200 OK|HTTP/1.1 -200 OK|200|HTTP/1.1 99|HTTP/1.1 1000 OK|
HTTP/1.1 206 Partial|HTTP/1.1 204 None|HTTP/1.1 304 Old|HTTP/1.1 300 Choose|HTTP/1.1 404 No|HTTP/1.1 500 No|
HTTP/1.1 101 Switch|HTTP/1.1 407 Who|HTTP/1.1 401 Who|SSH-2.0-OpenSSH_9.2|HTTP/1.1 203 Other""".replace(
    b"\n", b""
).split(b"|")
LENGTHS = [b"-5", b"abc", b"5, 6", b"9" * 30, b"0", b"+7", b"0x1f", b"1e3"]
TARGETS = b"""http://[::1 file:///etc/passwd ftp://other.example/r http://x:y@other.example/ http://other.example:99999/
http:///r javascript:x // http://a..b/ http://\xc3\xa9\xcc\x81.example/\0 http://*.example/ http://1.2.3.4.5.6/ http:///
http://other.example:-1/ http://%2e%2e/ http://xn--/""".split()
_MIRRORS = """http://me:SECRET http://me:SECRET@ http://me:SECRET@[::1 http://me:SECRET@host:port/x http://me:SECRET@h:99999
ftp://me:SECRET@h/ me:SECRET@host/folder http://me:pa/SECRET@host/ http://me:pa#SECRET@host http://me:pa?SECRET@host
http://me:SECRET@host/?token=SECRET http:/me:SECRET@host https//me:SECRET@host http://ho%20st/@SECRET@
http://me:SECRET@a..b httpx://me:SECRET@host //me:SECRET@host file://me:SECRET@host/x http://me:SECRET@[fe80::1%25eth0]/
http://me:SECRET@%00/ http://me:SECRET@h:0/ HTTP://ME:SECRET@h: http://:SECRET@/"""
MIRRORS = _MIRRORS.split()


@dataclass
class Wire:
    """What a server sends: status line, headers and content, each of which may be damaged; and what it was asked."""

    status: bytes
    headers: list[tuple[bytes, bytes]]
    body: bytes
    before: bytes = b""  # answers that are none yet
    stalls: bool = False  # says nothing more, and does not hang up

    def sent(self) -> bytes:
        """Write it as it goes over the wire."""
        lines = b"".join(name + b": " + value + b"\r\n" for name, value in self.headers)
        return self.before + self.status + b"\r\n" + lines + b"\r\n" + self.body


@dataclass
class Case:
    """A file, its honest content, the answers that come one after the other, and the mirror's address."""

    file: File
    content: bytes
    answers: list[Wire]
    mirror: str = f"http://me:{SECRET}@mirror.example/data"
    damaged: bool = False
    asked: list[tuple[str, bytes]] = field(default_factory=list)


def attempt(seed: int, folder: Path) -> str:
    """Fetch one file through one damaged answer; hold what came against what it should be."""
    rng = np.random.default_rng(seed)
    made = case(rng)
    cache = folder / "cache"
    for left in _files(cache):
        left.unlink()
    logged, printed = io.StringIO(), io.StringIO()
    with _alone(made, cache, logged), contextlib.redirect_stderr(printed):
        try:
            path = files.obtain(made.file)
        except DataError as problem:
            _refused(problem, made, cache)
            outcome = "refused"
        else:
            assert path.read_bytes() == made.content, "other bytes were taken for the file"
            outcome = "read" if made.file.digest else "told"
            assert ("Taken on trust" in printed.getvalue()) == (outcome == "told")
    assert SECRET not in logged.getvalue() + printed.getvalue(), "a password was logged"
    assert all(SECRET not in str(path) for path in _files(cache))
    for host, request in made.asked:
        assert host in made.mirror or PAIR not in request, f"{host} was told the password"
    return outcome


def _refused(problem: BaseException | None, made: Case, cache: Path) -> None:
    """Demand one sentence that names the file or the setting, tells no secret, and a cache without half a file."""
    told = str(problem)
    assert made.damaged, f"an honest answer was refused: {told}"
    assert made.file.path.rpartition("/")[2] in told or "EVALKIT_DATA_MIRROR" in told, told
    assert not {"Traceback", "\n"} & {*told.split(" "), *told}, told
    assert len(told) < 1000, told
    while problem is not None:
        assert SECRET not in str(problem) + repr(problem), f"a password in {type(problem).__name__}"
        problem = problem.__cause__ or problem.__context__
    assert _files(cache) == [], "something half-done was kept"


def _files(cache: Path) -> list[Path]:
    return [Path(folder, name) for folder, _, names in os.walk(cache) for name in names]


@contextlib.contextmanager
def _alone(made: Case, cache: Path, logged: io.StringIO) -> Iterator[None]:
    """Answer every connection by what was prepared, with limits of time that suit what never waits."""
    answers, ends = iter(made.answers), []

    def connect(address: tuple[str, int], *_: object, **__: object) -> socket.socket:
        wire = next(answers, None)
        if wire is None:
            raise ConnectionRefusedError
        ours, theirs = socket.socketpair()
        theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 21)
        theirs.setblocking(False)
        with contextlib.suppress(BlockingIOError):  # what does not fit is never sent
            theirs.sendall(wire.sent())
        if not wire.stalls:
            theirs.shutdown(socket.SHUT_WR)
        ends.append((address[0], theirs))
        return ours

    plain = {name: "" for name in os.environ if name.lower().endswith("_proxy")}
    setting = {"EVALKIT_DATA_MIRROR": made.mirror, "EVALKIT_DATA_DIR": str(cache), "EVALKIT_OFFLINE": "0"}
    handler, logger = logging.StreamHandler(logged), logging.getLogger("urllib3")
    logger.addHandler(handler)
    with (
        mock.patch.dict(os.environ, plain | setting),
        mock.patch("urllib3.util.connection.create_connection", connect),
        mock.patch("socket.getaddrinfo", return_value=[]),
        mock.patch.multiple(downloads, _READ=0.03, _SPAN=5.0, _silent={}),
    ):
        try:
            yield
        finally:
            logger.removeHandler(handler)
            for host, end in ends:
                with contextlib.suppress(BlockingIOError, OSError):
                    made.asked.append((host, end.recv(1 << 16)))
                end.close()


def case(rng: np.random.Generator) -> Case:
    """Draw a file, an honest answer, and none to three kinds of damage to it."""
    name, content = _content(rng)
    url = f"https://raw.githubusercontent.com/owner/repo/commit/{name}"
    known = [
        {"git": hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest(), "bytes": len(content)},
        {"sha256": hashlib.sha256(content).hexdigest()},
        {},
    ][rng.integers(3)]
    headers = [
        (b"Content-Length", b"%d" % len(content)),
        (b"Content-Type", b"application/octet-stream"),
        (b"ETag", b"x"),
    ]
    made = Case(File(url=url, **known), content, [Wire(b"HTTP/1.1 200 OK", headers, content)])
    _harmless(made, rng)
    kinds = [one for one in DAMAGE if made.file.digest or one not in _UNSEEN]
    for number in sorted(rng.choice(len(kinds), [0, 1, 1, 1, 2, 3][rng.integers(6)], replace=False)):
        made.damaged = True
        kinds[number](made, rng)
    return made


def _content(rng: np.random.Generator) -> tuple[str, bytes]:
    """Draw a file's name and what is in it."""
    rows = "\n".join(f"s{row},{rng.integers(101)}" for row in range(int(rng.integers(2, 400))))
    table = f"segment,score\n{rows}\n".encode()
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("ratings.csv", table)
    kinds = {"r.csv": table, "r.zip": stream.getvalue(), "r.csv.gz": gzip.compress(table, mtime=0), "r.json": b"[1, 2]"}
    name = str(rng.choice(list(kinds)))
    return name, kinds[name]


def _harmless(made: Case, rng: np.random.Generator) -> None:
    """Vary an answer in ways that change nothing."""
    wire = made.answers[-1]
    match rng.integers(6):
        case 0:
            wire.headers = [(b"Transfer-Encoding", b"chunked")]
            wire.body = _chunks(made.content, rng) + b"0\r\n" + b"Trailer: x\r\n" * int(rng.integers(3)) + b"\r\n"
        case 1:
            wire.headers = []
        case 2:
            wire.status, wire.before = b"HTTP/1.0 200", b"HTTP/1.1 100 Continue\r\n\r\n" * int(rng.integers(4))
        case 3:
            there = rng.choice(
                ["/elsewhere/r", "http://other.example/r", "//third.example/r", "?x=1", "http://mirror.example:81/"]
            )
            made.answers.insert(0, Wire(b"HTTP/1.1 302 Found", [(b"Location", str(there).encode())], b"<html>" * 99))
        case 4:
            wire.headers += [(b"X-Header-%d" % number, b"y" * int(rng.integers(999))) for number in range(90)]


def _chunks(content: bytes, rng: np.random.Generator) -> bytes:
    """Cut content into chunks as they go over the wire."""
    ends = sorted({0, len(content), *(int(end) for end in rng.integers(1, len(content), 3))})
    pieces = [content[start:end] for start, end in itertools.pairwise(ends)]
    return b"".join(b"%x%s\r\n%s\r\n" % (len(piece), b";x=1" * int(rng.integers(2)), piece) for piece in pieces)


def _junk(rng: np.random.Generator) -> bytes:
    return bytes(rng.choice(BYTES)) if rng.random() < 0.7 else rng.bytes(int(rng.integers(1, 60)))


def _status(made: Case, rng: np.random.Generator) -> None:
    lines = [*STATUS, b"", b"HTTP/1.1 " + b"2" * 5000, "HTTP/1.1 ²٣٣".encode(), _junk(rng)]
    made.answers[-1].status = lines[rng.integers(len(lines))]


def _many_headers(made: Case, rng: np.random.Generator) -> None:
    made.answers[-1].headers = [(b"X-%d" % number, _junk(rng)[:99]) for number in range(int(rng.integers(101, 400)))]


def _bad_header(made: Case, rng: np.random.Generator) -> None:
    made.answers[-1].headers.insert(int(rng.integers(2)), (_junk(rng), _junk(rng)))
    made.answers[-1].headers.insert(0, (b"Content-Length", b"x"))


def _length(made: Case, rng: np.random.Generator) -> None:
    size = len(made.content)
    told = [
        *LENGTHS,
        b"%d" % (size + 7),
        b"%d" % max(size - 3, 0),
        b"%d.0" % size,
        b"9" * 5000,
        "٣".encode(),
        _junk(rng),
    ]
    wire = made.answers[-1]
    wire.headers = [(b"Content-Length", told[rng.integers(len(told))]), *wire.headers[1:]]
    if rng.random() < 0.3:
        wire.headers.append((b"content-length", told[rng.integers(len(told))]))


def _chunked(made: Case, rng: np.random.Generator) -> None:
    wire, body = made.answers[-1], _chunks(made.content, rng)
    spoilt = [
        start + body for start in (b"", b"-5\r\n", b"-0\r\n", b"zz\r\n", b"F" * 16 + b"\r\n", b"\r\n", b"5\r\nhello")
    ]
    spoilt += [body + b"0", body[: int(rng.integers(len(body)))], b"1" * 70_000, _junk(rng) + body, b"0\r\n\r\n" + body]
    spoilt += [body + b"0\r\n" + b"T: x\r\n" * 9999]
    codings = [b"chunked", b"CHUNKED", b"gzip, chunked", b"chunked, chunked"]
    wire.headers, wire.body = [(b"Transfer-Encoding", codings[rng.integers(4)])], spoilt[rng.integers(len(spoilt))]
    if rng.random() < 0.3:
        wire.headers.append((b"Content-Length", b"%d" % len(made.content)))


def _redirect(made: Case, rng: np.random.Generator) -> None:
    targets = [
        *TARGETS,
        b"",
        b"\xff\xfe",
        b"http://" + b"a" * 300 + b"/",
        b"/" + b"a/" * 30_000,
        b"?" * 999,
        _junk(rng),
    ]
    status = [b"301", b"302", b"303", b"307", b"308"][rng.integers(5)]
    place = targets[rng.integers(len(targets))]
    wire = Wire(b"HTTP/1.1 " + status, [(b"Location", place)], _junk(rng) * int(rng.integers(3)))
    if rng.random() < 0.2:
        wire.headers.append((b"Content-Encoding", b"gzip"))
    made.answers = [wire] * int(rng.choice([1, 1, 2, 30])) + made.answers


def _missing(made: Case, rng: np.random.Generator) -> None:
    made.answers = made.answers[: len(made.answers) - 1]


def _silence(made: Case, rng: np.random.Generator) -> None:
    wire = made.answers[-1]
    made.answers[-1] = Half(
        wire.status, wire.headers, wire.body, stalls=True, cut=int(rng.integers(max(len(wire.sent()), 1)))
    )


@dataclass
class Half(Wire):
    """An answer that ends in the middle; then the server hangs up, or says nothing more."""

    cut: int = 0

    def sent(self) -> bytes:
        return super().sent()[: self.cut]


def _hang_up(made: Case, rng: np.random.Generator) -> None:
    _silence(made, rng)
    made.answers[-1].stalls = False


def _body(made: Case, rng: np.random.Generator) -> None:
    whole = made.content
    pages = [b"", b"<html>login</html>", b"<!DOCTYPE html>\n<p>Who?", b"\xef\xbb\xbf <HTML>", b"\0" * 99, b"\n"]
    if made.file.digest:  # what else nobody could see
        pages += [whole[:-1], whole + b"x", whole[::-1], gzip.compress(whole), b"Please log in"]
    body = pages[rng.integers(len(pages))]
    made.answers[-1] = Wire(b"HTTP/1.1 200 OK", [(b"Content-Length", b"%d" % len(body))], body)


def _html(made: Case, rng: np.random.Generator) -> None:
    kind = [b"text/html", b"text/html; charset=utf-8", b"TEXT/HTML;", b"application/xhtml+xml"][rng.integers(4)]
    made.answers[-1].headers = [(b"Content-Type", kind), *made.answers[-1].headers[:1]]


def _packed(made: Case, rng: np.random.Generator) -> None:
    packing = [b"gzip", b"br", b"deflate, gzip", b"gzip" + b", gzip" * 50, b"x", b"identity", b"zstd"]
    wire = made.answers[-1]
    wire.headers.append((b"Content-Encoding", packing[rng.integers(len(packing))]))
    if rng.random() < 0.5:
        wire.body = gzip.compress(made.content)
        wire.headers = [(b"Content-Length", b"%d" % len(wire.body)), *wire.headers[1:]]


def _mirror(made: Case, rng: np.random.Generator) -> None:
    odd = ["\u00ad/", "host\t/x", "é" * 90 + "/", "host/\x7f", "host/" + "a/" * 9000, f"{'a' * 70}.example"]
    mirrors = [*MIRRORS, *(f"http://me:{SECRET}@{rest}" for rest in odd)]
    made.mirror = mirrors[rng.integers(len(mirrors))].replace("SECRET", SECRET)
    made.answers = made.answers[: int(rng.integers(2)) * 9]


#: What may be wrong with an answer, or with the address that is asked.
DAMAGE: list[Callable[[Case, np.random.Generator], None]] = [
    _status,
    _many_headers,
    _bad_header,
    _length,
    _chunked,
    _packed,
    _silence,
    _hang_up,
    _body,
    _html,
    _redirect,
    _missing,
    _mirror,
]
#: What cannot be seen without a digest: an answer that says itself that it is whole, and is not.
_UNSEEN = {_length, _bad_header, _many_headers, _chunked, _hang_up, _packed}
