"""Servers that lie or never end, passwords in addresses, and files that nobody knows the digest of."""

import contextlib
import io
import os
import socket
import threading
import time
import zipfile

import pytest

from evalkit import DataError, data
from evalkit.data import downloads, files, plausible, registry
from evalkit.data.registry import Entry, File
from evalkit.reports import cli

CONTENT = b"segment,score\n1,90\n2,80\n"
KNOWN = File(url="https://example.org/data/r.csv", sha256="0" * 64, bytes=len(CONTENT))
UNKNOWN = File(url="https://example.org/data/r.csv")
ZIPPED = File(url="https://example.org/data/r.zip")
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
    monkeypatch.setattr(downloads, "_silent", {})


@pytest.fixture
def server(monkeypatch):
    """Name as the mirror a server that writes ``first`` to whoever asks, and then ``again`` every so often."""
    opened = []

    def start(first, again=b"", every=0.2):
        listening = socket.create_server(("127.0.0.1", 0))
        opened.append(listening)

        def answer():
            with contextlib.suppress(OSError):  # nobody listens any more
                while True:
                    link, _ = listening.accept()
                    with link, link.makefile("rb") as asked:
                        while asked.readline() not in (b"\r\n", b""):
                            pass
                        link.sendall(first)
                        while again:
                            time.sleep(every)
                            link.sendall(again)

        threading.Thread(target=answer, daemon=True).start()
        monkeypatch.setenv("EVALKIT_DATA_MIRROR", f"http://127.0.0.1:{listening.getsockname()[1]}")

    yield start
    for listening in opened:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()


def files_in(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    ("first", "again", "told"),
    [
        (OK + b"Content-Length: 24\r\n\r\n", b"x", "bytes came in"),
        (OK, b"X: y\r\n", "bytes came in"),
        (OK + b"\r\n", bytes(99_999), "longer than"),
        (OK + b"Content-Length: 24\r\n\r\nsegment", b"", ""),
        (b"HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n", b"", "malformed"),
        (b"HTTP/1.1 302 Found\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n", b"", "more than 10 times"),
        (b"HTTP/1.1 206 X\r\nContent-Length: 24\r\n\r\n" + CONTENT, b"", "answers 206"),
        (OK + b"Content-Type: text/html\r\nContent-Length: 24\r\n\r\n" + CONTENT, b"", "a web page"),
    ],
)
def test_a_server_that_never_ends_or_has_no_whole_file_is_told(server, first, again, told, monkeypatch, tmp_path):
    monkeypatch.setattr(downloads, "_SPAN", 0.5)
    monkeypatch.setattr(downloads, "_WHOLE", 1.0)
    server(first, again)
    with pytest.raises(DataError, match=rf"r\.csv could not be fetched: .*{told}"):
        files.obtain(UNKNOWN)
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


# What is taken on trust


def packed(name="r.csv"):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(name, CONTENT)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("r.zip", b"<html>login</html>", "it is a web page"),
        ("r.csv", b"Please log in, friend", "it has no rows"),
        ("r.csv", CONTENT, ""),
        ("r.zip", packed()[:-30], "it is no whole zip"),
        ("r.zip", packed(), ""),
        ("r.csv.gz", CONTENT, "it is not packed"),
        ("r.parquet", b"PAR1" + bytes(99), "it does not end"),
        ("r", b"Unauthorized", "it has only 12 bytes"),
    ],
)
def test_what_cannot_be_the_file_is_not_trusted(name, content, told, tmp_path):
    (tmp_path / "x").write_bytes(content)
    flaw = plausible.flaw(tmp_path / "x", name=name)
    assert flaw.startswith(told) if told else flaw == ""


def test_a_file_without_a_digest_is_trusted_once_and_loudly_until_it_is_forgotten(monkeypatch, capsys, tmp_path):
    entry = Entry("toy", "A toy", "none", "nobody", "appraise.ratings", (ZIPPED,), optional=True)
    other = Entry("other", "A toy", "none", "nobody", "appraise.ratings", (KNOWN,))
    monkeypatch.setattr(registry, "entries", lambda: {"toy": entry, "other": other})
    mirror = tmp_path / "mirror" / ZIPPED.path
    mirror.parent.mkdir(parents=True)
    mirror.write_bytes(packed())
    monkeypatch.setenv("EVALKIT_DATA_MIRROR", str(tmp_path / "mirror"))
    for said in (True, False):
        data.fetch("toy")
        assert ("Taken on trust" in capsys.readouterr().err) is said
    assert data.verify("toy")["state"].tolist() == ["verified"]
    mirror.write_bytes(packed("other.csv"))
    with pytest.raises(DataError, match="evalkit data forget toy"):
        data.fetch("toy")
    assert cli.main(["data", "forget", "toy"]) == 0
    assert mirror.exists(), "a mirror is spared"
    capsys.readouterr()
    data.fetch("toy")
    assert "Taken on trust" in capsys.readouterr().err
    assert cli.main(["data", "forget", "other"]) == 1
    assert "its digests are known" in capsys.readouterr().err


# Devices and pipes in the place of files
