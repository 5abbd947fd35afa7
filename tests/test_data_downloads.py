"""Servers that lie, stall or never end, and files that nobody knows the digest of."""

import contextlib
import gzip
import io
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import zipfile

import pytest

from evalkit import ROOT, DataError, data
from evalkit.data import downloads, files, plausible, registry, secret
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
    monkeypatch.delenv("EVALKIT_OFFLINE", raising=False)
    monkeypatch.delenv("EVALKIT_DATA_MIRROR", raising=False)
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(downloads, "_silent", {})


@pytest.fixture
def server():
    """Start servers that write ``first`` and then ``again`` every so often; gives their addresses."""
    opened = []

    def start(first, again=b"", every=0.02):
        listening = socket.create_server(("127.0.0.1", 0))
        opened.append(listening)

        def answer(link):
            with link, link.makefile("rb") as asked:
                while asked.readline() not in (b"\r\n", b""):
                    pass
                link.sendall(first)
                while again:
                    time.sleep(every)
                    link.sendall(again)

        def accept():
            while True:
                try:
                    link, _ = listening.accept()
                except OSError:
                    return
                threading.Thread(target=quiet, args=(answer, link), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        return f"127.0.0.1:{listening.getsockname()[1]}"

    def quiet(work, link):
        with contextlib.suppress(OSError):  # nobody listens any more
            work(link)

    yield start
    for listening in opened:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()


def files_in(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    ("first", "again"),
    [
        (OK + b"Content-Length: 24\r\n\r\n", b"x"),
        (OK + b"\r\n", b"x"),
        (OK, b"X: y\r\n"),
        (OK + b"X: ", b"y"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (b"H", b"T"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n", b"1"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"T: x\r\n"),
    ],
)
def test_a_server_that_gives_a_little_for_ever_is_given_up(server, first, again, monkeypatch, tmp_path):
    monkeypatch.setattr(downloads, "_SPAN", 0.5)
    monkeypatch.setenv("EVALKIT_DATA_MIRROR", f"http://{server(first, again, every=0.2)}")
    begun = time.monotonic()
    with pytest.raises(DataError, match=r"r\.csv could not be fetched: only \d+ bytes came in 0.5 seconds\. Ask who"):
        files.obtain(KNOWN)
    assert time.monotonic() - begun < 10
    assert files_in(tmp_path / "cache") == []


def test_a_whole_file_has_a_limit_of_time_too(server, monkeypatch):
    monkeypatch.setattr(downloads, "_SPAN", 0.2)
    monkeypatch.setattr(downloads, "_LEAST", 1)
    monkeypatch.setattr(downloads, "_WHOLE", 0.3)
    endless = server(OK + b"\r\n", bytes(99_999))
    monkeypatch.setenv("EVALKIT_DATA_MIRROR", f"http://{endless}")
    with pytest.raises(DataError, match="could not be fetched: it takes longer than"):
        files.obtain(UNKNOWN)


def test_what_comes_with_a_redirect_is_not_read(server, monkeypatch):
    there = server(OK + b"Content-Length: 24\r\n\r\n" + CONTENT)
    flood = server(f"HTTP/1.1 302 Found\r\nLocation: http://{there}/x\r\n\r\n".encode(), bytes(1 << 20), every=0)
    monkeypatch.setenv("EVALKIT_DATA_MIRROR", f"http://{flood}")
    assert files.obtain(UNKNOWN).read_bytes() == CONTENT


def test_a_chunk_of_negative_length_is_not_read_to_an_end_that_never_comes(server, monkeypatch):
    flood = server(OK + b"Transfer-Encoding: chunked\r\n\r\n-1\r\n", bytes(1 << 20), every=0)
    monkeypatch.setenv("EVALKIT_DATA_MIRROR", f"http://{flood}")
    with pytest.raises(DataError, match="its answer broke off"):
        files.obtain(KNOWN)


def test_a_stop_ends_a_download_at_once(server, tmp_path):
    mirror = f"http://{server(OK + b'X: ', b'y')}"
    command = [sys.executable, "-m", "evalkit.reports.cli", "data", "fetch", "wmt22-calibration-hits"]
    env = os.environ | {"EVALKIT_DATA_MIRROR": mirror, "PYTHONPATH": str(ROOT)}
    running = subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True)
    try:
        until = time.monotonic() + 30
        while not list((tmp_path / "cache").rglob("*.part")) and time.monotonic() < until:
            time.sleep(0.05)
        time.sleep(0.3)
        begun = time.monotonic()
        running.send_signal(signal.SIGTERM)
        told = running.communicate(timeout=20)[1]
    finally:
        running.kill()
    assert time.monotonic() - begun < 10
    assert (running.returncode, "evalkit: stopped." in told, "Traceback" in told) == (130, True, False)
    assert files_in(tmp_path / "cache") == []


@pytest.mark.parametrize(
    "mirror",
    [
        "http://me:hunter2",
        "http://me:hun/ter2@host",
        "http://me:x#hunter2@host",
        "ftp://me:hunter2@host",
        "me:hunter2@host",
        "http://me:hunter2@host:port",
        "http://me:hunter2@[::1",
        "http:/me:hunter2@host",
        "http://me:hunter2@127.0.0.1:1",
        "https//me:hunter2@host",
        "http://me/hunter2@host",
    ],
)
def test_a_password_is_in_no_message_nor_behind_one(mirror, monkeypatch, capfd, caplog):
    monkeypatch.setenv("EVALKIT_DATA_MIRROR", mirror)
    caplog.set_level("DEBUG")
    with pytest.raises(DataError) as told:
        files.obtain(KNOWN)
    problem, seen = told.value, [capfd.readouterr().err, caplog.text]
    while problem is not None:
        seen.append(repr(problem))
        problem = problem.__cause__ or problem.__context__
    assert not [text for text in seen if "ter2" in text]
    assert "EVALKIT_DATA_MIRROR" in str(told.value)


@pytest.mark.parametrize(
    ("location", "told"),
    [("http://[::1", "malformed"), ("file:///etc/passwd", "malformed"), ("/again", "more than 10 times")],
)
def test_a_redirect_that_leads_nowhere_is_told(server, location, told, monkeypatch):
    mirror = server(f"HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode())
    monkeypatch.setenv("EVALKIT_DATA_MIRROR", f"http://{mirror}")
    with pytest.raises(DataError, match=f"r.csv could not be fetched: .*{told}"):
        files.obtain(KNOWN)


@pytest.mark.parametrize("status", [204, 206, 304, 401, 503])
def test_only_a_whole_file_is_one(server, status, monkeypatch):
    mirror = server(b"HTTP/1.1 %d X\r\nContent-Length: 24\r\n\r\n" % status + CONTENT)
    monkeypatch.setenv("EVALKIT_DATA_MIRROR", f"http://{mirror}")
    with pytest.raises(DataError, match=f"the server answers {status}"):
        files.obtain(UNKNOWN)


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
        ("r.csv", b"\xef\xbb\xbf\n <!DOCTYPE html>\n<p>a,b", "it is a web page"),
        ("r.csv", b"", "it is empty"),
        ("r.csv", b" \n\t\n", "it is empty"),
        ("r.csv", b"Please log in, friend", "it has no rows"),
        ("r.csv", b"a,b\n\0\0\0\0", "it is no text"),
        ("r.csv", CONTENT, ""),
        ("r.zip", packed()[:-30], "it is no whole zip archive"),
        ("r.zip", packed(), ""),
        ("r.csv.gz", CONTENT, "it is not packed as .gz says"),
        ("r.csv.gz", gzip.compress(CONTENT, mtime=0), ""),
        ("r.tar.xz", b"\xfd7zXZ\0 and no more", "it is not packed as .xz says"),
        ("r.json", b'{"a": [1, 2', "it is no whole JSON"),
        ("r.json", b'{"a": [1, 2]}\n', ""),
        ("r.jsonl", b'{"a": 1}\n{"a": 2}\n', ""),
        ("r.jsonl", b"not found\nat all\n", "it has no rows"),
        ("r.parquet", b"PAR1" + bytes(99), "it does not end as Parquet does"),
        ("r.pdf", b"x" * 99, "it does not begin as a file called .pdf does"),
        ("r", b"Unauthorized", "it has only 12 bytes"),
        ("r.xml", b"<?xml version='1.0'?>" + b"<a/>" * 20, ""),
    ],
)
def test_what_cannot_be_the_file_is_not_trusted(name, content, told, tmp_path):
    (tmp_path / "x").write_bytes(content)
    flaw = plausible.flaw(tmp_path / "x", name=name)
    assert flaw.startswith(told) if told else flaw == ""


def test_a_login_page_is_not_pinned_whatever_it_is_called(server, monkeypatch, tmp_path, capsys):
    page = b"Content-Type: text/html; charset=utf-8\r\nContent-Length: 24\r\n\r\n" + CONTENT
    monkeypatch.setenv("EVALKIT_DATA_MIRROR", f"http://{server(OK + page)}")
    with pytest.raises(DataError, match="could not be fetched: it is a web page, perhaps one that asks for a login"):
        files.obtain(UNKNOWN)
    assert files_in(tmp_path / "cache") == []
    assert "Taken on trust" not in capsys.readouterr().err


@pytest.fixture
def trusted(tmp_path, monkeypatch):
    """A data set without a digest, of which the cache holds what an earlier version of the suite took on trust."""
    entry = Entry("toy", "A toy", "none", "nobody", "appraise.ratings", (ZIPPED,), optional=True)
    other = Entry("other", "A toy", "none", "nobody", "appraise.ratings", (KNOWN,))
    monkeypatch.setattr(registry, "entries", lambda: {"toy": entry, "other": other})

    def put(content):
        place = tmp_path / "cache" / ZIPPED.path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
        files._pin(ZIPPED, place)
        return place

    return put


def test_what_was_trusted_can_be_forgotten(trusted, server, monkeypatch, capsys, tmp_path):
    place = trusted(b"<html>login</html>")
    assert not data.available("toy")
    with pytest.raises(DataError, match=r"it is a web page.* To trust another file, run `evalkit data forget toy`, or"):
        data.verify("toy")
    whole = packed()
    answer = OK + b"Content-Length: %d\r\n\r\n" % len(whole) + whole
    monkeypatch.setenv("EVALKIT_DATA_MIRROR", f"http://{server(answer)}")
    with pytest.raises(DataError, match="To trust another file, run `evalkit data forget toy`"):
        data.fetch("toy")  # a digest that was noted counts until somebody says otherwise
    assert cli.main(["data", "forget", "toy"]) == 0
    assert set(capsys.readouterr().out.split()) == {str(place), f"{place}.sha256"}
    assert files_in(tmp_path / "cache") == []
    assert data.fetch("toy") == [place]
    assert data.verify("toy")["state"].tolist() == ["verified"]


def test_forgetting_spares_a_mirror_and_what_the_registry_knows(trusted, monkeypatch, tmp_path, capsys):
    trusted(packed())
    mirror = tmp_path / "mirror" / ZIPPED.path
    mirror.parent.mkdir(parents=True)
    mirror.write_bytes(packed("other.csv"))
    monkeypatch.setenv("EVALKIT_DATA_MIRROR", str(tmp_path / "mirror"))
    assert cli.main(["data", "forget", "toy"]) == 0
    assert mirror.exists()
    assert cli.main(["data", "forget", "other"]) == 1
    assert "Nothing of other is taken on trust: its digests are known" in capsys.readouterr().err
    assert cli.main(["data", "forget", "tyo"]) == 2
    assert cli.main(["data", "forget"]) == 2


# Devices and pipes in the place of files


@pytest.mark.parametrize("kind", ["device", "pipe", "long"])
def test_a_salt_file_that_never_ends_is_told(kind, tmp_path, monkeypatch):
    place = tmp_path / "endless"
    if kind == "device":
        place.symlink_to("/dev/zero")
    elif kind == "pipe":
        os.mkfifo(place)
    else:
        place.write_text("a" * 99_999)
    monkeypatch.setenv("EVALKIT_SALT_FILE", str(place))
    with pytest.raises(DataError, match="Set EVALKIT_SALT_FILE to"):
        secret.own()


@pytest.mark.parametrize("variable", ["EVALKIT_DATA_MIRROR", "EVALKIT_DATA_DIR"])
@pytest.mark.parametrize("kind", ["device", "pipe", "pipe in place", "device in place"])
def test_devices_and_pipes_are_no_data(variable, kind, tmp_path, monkeypatch):
    monkeypatch.setenv("EVALKIT_OFFLINE", "1")
    place = tmp_path / "folder"
    if kind.endswith("place"):
        monkeypatch.setenv(variable, str(place))
        place = place / UNKNOWN.path
        place.parent.mkdir(parents=True)
    else:
        monkeypatch.setenv(variable, str(place))
    os.mkfifo(place) if kind.startswith("pipe") else place.symlink_to("/dev/zero")
    for file in (KNOWN, UNKNOWN):
        assert files.locate(file) is None
        with pytest.raises(DataError, match=r"r\.csv is (neither in the mirror|not in the cache)"):
            files.obtain(file)
