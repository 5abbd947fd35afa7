"""An address that is no Dask scheduler, or a scheduler that lies, is told in a sentence and in time."""

import contextlib
import socket
import sys
import threading
import time

import pytest

from evalkit import DataError
from evalkit.reports import cluster

#: What a scheduler says first, unasked: as many bytes, in one part of as many, with names and values.
SAID = b"\x83\xabcompression\xc0\xa6python\x93\x03\x0b\x07\xafpickle-protocol\x05"
FRAMED = b"".join(number.to_bytes(8, "little") for number in (16 + len(SAID), 1, len(SAID))) + SAID


@pytest.fixture
def liar():
    """Start servers that greet with some bytes, and answer with others; gives their addresses."""
    opened = []

    def start(first, then=None, again=b""):
        listening = socket.create_server(("127.0.0.1", 0))
        opened.append(listening)

        def answer(link):
            with link, contextlib.suppress(OSError):
                link.sendall(first)
                if then is not None:
                    link.recv(1 << 16)
                    link.sendall(then)
                while link.recv(1 << 16) if not again else True:
                    link.sendall(again)
                    time.sleep(0.05)

        def accept():
            with contextlib.suppress(OSError):
                while True:
                    threading.Thread(target=answer, args=(listening.accept()[0],), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        return f"127.0.0.1:{listening.getsockname()[1]}"

    yield start
    for listening in opened:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()


@pytest.mark.parametrize(
    "address",
    [
        *("", " ", "nonsense", "tcp://", "127.0.0.1", "127.0.0.1:99999", "127.0.0.1:0", "tcp://[::1", "h:1:2"),
        *("inproc://x/y", "http://h:8786", "tcp://me:pw@h:8786", "h:٣", "tcp://h:8786/x", "h\n:1", "tcp://tcp://h:1"),
    ],
)
def test_what_is_no_address_is_told_at_once(address, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)  # it is not even imported
    begun = time.monotonic()
    with pytest.raises(DataError, match=r"is no address of a Dask scheduler\. Write it like tcp://host:8786\."):
        cluster.connect(address)
    assert time.monotonic() - begun < 2


@pytest.mark.parametrize(
    ("first", "again", "told"),
    [
        (b"", b"", r"No Dask scheduler answers at 127.*\(Timeout"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", b"", "What answers at 127.* is no Dask scheduler. Correct the address."),
        ((50).to_bytes(8, "little"), b"x", "No Dask scheduler answers|is no Dask scheduler"),
        ((1 << 62).to_bytes(8, "little"), b"", "is no Dask scheduler"),
    ],
)
def test_what_is_no_scheduler_is_told_in_time(liar, first, again, told):
    begun = time.monotonic()
    with pytest.raises(DataError, match=told) as problem:
        cluster.connect(liar(first, again=again), timeout=0.5)
    assert time.monotonic() - begun < 10
    assert "\n" not in str(problem.value)


@pytest.mark.parametrize(
    ("then", "again"),
    [
        (None, b""),
        (b"", b"x"),
        ((1 << 62).to_bytes(8, "little"), b""),
        (FRAMED * 9, b""),
    ],
)
def test_a_scheduler_that_greets_and_then_lies_is_told_in_time(liar, then, again, capfd):
    begun = time.monotonic()
    with pytest.raises(DataError, match=r"No Dask scheduler answers at 127.0.0.1:\d+ \(") as problem:
        cluster.connect(liar(FRAMED, then, again), timeout=0.5)
    assert time.monotonic() - begun < 20
    assert "\n" not in str(problem.value)
    assert "Traceback" not in capfd.readouterr().err
