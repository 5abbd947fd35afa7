"""Servers that lie or break off, passwords in addresses, and files that nobody knows the digest of."""

import contextlib
import os
import socket
import threading

import pytest

from evalkit import DataError
from evalkit.data import files
from evalkit.data.registry import File

CONTENT = b"segment,score\n1,90\n2,80\n"
KNOWN = File(url="https://example.org/data/r.csv", sha256="0" * 64, bytes=len(CONTENT))
UNKNOWN = File(url="https://example.org/data/r.csv")
OK = b"HTTP/1.1 200 OK\r\n"


@pytest.fixture(autouse=True)
def alone(tmp_path, monkeypatch):
    """Give each test a cache of its own, no mirror, and servers that are asked again."""
    monkeypatch.setenv("EVALKIT_DATA_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("EVALKIT_SALT_FILE", str(tmp_path / "salt"))
    for name in ("EVALKIT_OFFLINE", "EVALKIT_DATA_MIRROR"):
        monkeypatch.delenv(name, raising=False)
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(files, "_silent", {})


@pytest.fixture
def server(monkeypatch):
    """Name as the mirror a server that gives one answer to whoever asks."""
    listening = socket.create_server(("127.0.0.1", 0))

    def start(said):
        def answer():
            with contextlib.suppress(OSError):  # nobody listens any more
                while True:
                    link, _ = listening.accept()
                    with link, link.makefile("rb") as asked:
                        while asked.readline() not in (b"\r\n", b""):
                            pass
                        link.sendall(said)

        threading.Thread(target=answer, daemon=True).start()
        monkeypatch.setenv("EVALKIT_DATA_MIRROR", f"http://127.0.0.1:{listening.getsockname()[1]}")

    yield start
    listening.shutdown(socket.SHUT_RDWR)
    listening.close()


def files_in(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (OK + b"Content-Length: 24\r\n\r\nsegment", "broke off"),
        (OK + b"\r\n" + bytes(99_999), "stopped after 24 bytes"),
        (b"HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n", "malformed"),
        (
            b"HTTP/1.1 302 Found\r\nLocation: /again\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
            "TooManyRedirects",
        ),
        (b"HTTP/1.1 206 X\r\nContent-Length: 24\r\n\r\n" + CONTENT, "answers 206"),
        (OK + b"Content-Length: 24\r\n\r\n" + CONTENT, "expected sha256:000"),
    ],
)
def test_a_server_that_has_no_whole_file_is_told(server, said, told, tmp_path):
    server(said)
    with pytest.raises(DataError, match=rf"r\.csv could not be fetched: .*{told}"):
        files.obtain(KNOWN)
    assert files_in(tmp_path / "cache") == []


MIRRORS = ["http://me:hun/ter2@host", "ftp://me:hunter2@host", "http://me:hunter2@127.0.0.1:1"]


@pytest.mark.parametrize("mirror", MIRRORS)
def test_a_password_is_in_no_message_nor_behind_one(mirror, monkeypatch, capfd, caplog):
    monkeypatch.setenv("EVALKIT_DATA_MIRROR", mirror)
    caplog.set_level("DEBUG")
    with pytest.raises(DataError, match="EVALKIT_DATA_MIRROR") as told:
        files.obtain(KNOWN)
    problem, seen = told.value, [capfd.readouterr().err, caplog.text]
    while problem is not None:
        seen.append(repr(problem))
        problem = problem.__cause__ or problem.__context__
    assert not [text for text in seen if "ter2" in text]


def test_a_file_without_a_digest_is_fetched_by_hand(tmp_path):
    place = tmp_path / "cache" / UNKNOWN.path
    with pytest.raises(DataError, match=rf"Fetch {UNKNOWN.url} by hand, .* put it at {place}"):
        files.obtain(UNKNOWN)
    place.parent.mkdir(parents=True)
    place.write_bytes(CONTENT)
    assert files.obtain(UNKNOWN) == place
