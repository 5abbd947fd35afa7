"""Data are verified at every load, and everything that can go wrong with a file is told and mended."""

import contextlib
import hashlib
import http.server
import io
import os
import signal
import socket
import stat
import subprocess
import sys
import tarfile
import threading
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from urllib.parse import unquote

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit import ROOT, DataError, data
from evalkit.data import appraise, archives, delimited, downloads, files, registry, schemas, simulate, xsts
from evalkit.data.registry import Entry, File

HEADER = b"username,system,itemId,itemType,srcLang,trgLang,score,docId,isDocScore,timeStart,timeEnd\n"
ROWS = b"""a1,S,0,TGT,eng,ces,90,d#1-2,False,10.0,11.0
a1,S,1,TGT,eng,ces,80,d#1-2,False,11.0,12.0
a1,S,1,TGT,eng,ces,85,d#1-2,True,12.0,13.0
a1,S,0,TGT,eng,ces,70,d#1-2,False,9.0,10.0
"""
COLUMNS = "src_lang,tgt_lang,system,doc,segment,annotator,score,item_type"


def git(content):
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def raw(name, content, **digest):
    """Register ``content`` as a file of a repository."""
    digest = digest or {"git": git(content), "bytes": len(content)}
    return File(url=f"https://raw.githubusercontent.com/owner/repo/commit/a b+c/{name}", **digest)


HEADER_FILE, ROWS_FILE = raw("header.csv", HEADER), raw("rows.csv", ROWS)


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch, request):
    """Give each test a cache of its own; those without real data get no mirror either."""
    monkeypatch.setenv("EVALKIT_DATA_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("EVALKIT_SALT_FILE", str(tmp_path / "salt"))
    monkeypatch.delenv("EVALKIT_OFFLINE", raising=False)
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    if not {"real", "mirrored"} & set(request.fixturenames):
        monkeypatch.delenv("EVALKIT_DATA_MIRROR", raising=False)
    monkeypatch.setattr(downloads, "_silent", {})


@pytest.fixture
def toy(monkeypatch):
    """Register one small data set of two files."""
    entry = Entry("toy", "A toy", "none", "nobody", "appraise.ratings", (ROWS_FILE, HEADER_FILE), "calibration_hits")
    monkeypatch.setattr(registry, "entries", lambda: {"toy": entry})
    return entry


def put(folder, *pairs):
    """Lay files out as a mirror does."""
    for file, content in pairs or ((ROWS_FILE, ROWS), (HEADER_FILE, HEADER)):
        place = folder / file.path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    return folder


def zip_of(content):
    """Pack content, without which no archive is trusted."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("x", content)
    return stream.getvalue()


@contextlib.contextmanager
def serving(handler):
    """Serve HTTP on a free port of this machine."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


class Folder(http.server.SimpleHTTPRequestHandler):
    """Serve a folder without a word."""

    def log_message(self, *_):
        pass


class Stalling(http.server.BaseHTTPRequestHandler):
    """Send half of a file; then break off, or say nothing more."""

    stall = 0

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", str(len(HEADER)))
        self.end_headers()
        self.wfile.write(HEADER[:40])
        self.wfile.flush()
        time.sleep(self.stall)

    def log_message(self, *_):
        pass


def left_over(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


# The registry and its digests


def test_digests_are_gits_and_sha256s_own(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"hello\n")
    assert registry.digest(path, kind="git") == "git:ce013625030ba8dba906f756967f9e9ca394464a"  # git hash-object
    assert registry.digest(path) == "sha256:5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"


def test_the_registry_is_complete():
    for name, entry in registry.entries().items():
        assert entry.licence, name
        assert entry.citation, name
        assert callable(data._function(entry.loader))
        assert entry.simulator is None or callable(data._function(f"simulate.{entry.simulator}"))
        for file in entry.files:
            assert file.url.startswith("https://")
            assert entry.optional or (file.git and file.bytes), f"{name}: only optional data may be taken on trust"
    assert (ROOT / "data" / "README.md").read_text(encoding="utf-8").count("`nllb-xsts`")


def test_every_data_set_has_a_date_that_says_what_it_is_the_date_of():
    for name, entry in registry.entries().items():
        assert registry.is_date(entry.released), name
        assert entry.dated_by in registry.DATED_BY, name
        assert (entry.dated_by == "publication") == (len(entry.released) == 4), (
            f"{name}: days from files, years from papers"
        )
        if entry.dated_by == "file name":
            assert entry.released.replace("-", "") in entry.base + entry.files[0].url, name
        if entry.dated_by == "repository":
            assert all("githubusercontent" in entry.base + file.url for file in entry.files), name
        assert registry.released(name) == {"released": entry.released, "dated_by": entry.dated_by}


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"released": "3.11.2022", "dated_by": "file name"}, "neither a year nor a date"),
        ({"released": "2022-02-30", "dated_by": "file name"}, "neither a year nor a date"),
        ({"released": 2022, "dated_by": "publication"}, "neither a year nor a date"),
        ({"released": "2022"}, "dated_by = '' is none of repository, file name, publication"),
        ({"released": "2022", "dated_by": "hearsay"}, "dated_by = 'hearsay' is none of"),
        ({"dated_by": "repository"}, "neither a year nor a date"),
    ],
)
def test_a_date_that_is_none_is_refused_when_the_registry_is_read(fields, told, monkeypatch):
    made = {"title": "A toy", "licence": "none", "citation": "nobody", "loader": "appraise.ratings"}
    made["files"] = [{"url": "https://example.org/x.csv"}]
    monkeypatch.setattr(registry, "_contents", lambda: {"toy": made | fields})
    with pytest.raises(DataError, match=f"entry toy: .*{told}"):
        registry.entries()
    monkeypatch.setattr(registry, "_contents", lambda: {"toy": made})
    assert registry.entries()["toy"].released == "", "a date that nobody knows is left out"


def test_the_committed_header_digest_is_right():
    file = registry.entry("wmt22-calibration-hits").files[1]
    assert (file.git, file.bytes) == (git(HEADER), len(HEADER))


def test_an_unknown_data_set_names_the_nearest():
    with pytest.raises(DataError, match="Did you mean wmt22-calibration-hits"):
        data.load("wmt22-calibration-hit")


# Real data


def test_the_real_calibration_hits(real):
    ratings = real("wmt22-calibration-hits")
    assert len(ratings) + ratings.attrs["excluded"]["document scores"] == 10_751
    assert ratings.attrs["excluded"] == {"document scores": 1_139}
    assert ratings["annotator"].nunique() == 99
    assert ratings["item_type"].value_counts().to_dict() == {"calibration": 9_235, "repeat": 377}
    pairs = sorted(set(ratings["src_lang"] + "-" + ratings["tgt_lang"]))
    assert pairs == ["eng-ces", "eng-deu", "eng-hrv", "eng-jpn", "eng-zho", "zho-eng"]
    sizes = ratings.groupby("annotator").size().value_counts().to_dict()
    assert sizes == {100: 95, 61: 1, 21: 1, 18: 1, 12: 1}
    source = ratings.attrs["source"]
    assert source["source"] == "real"
    assert source["digest"].startswith("git:c5950d5c7231b1966d4d68e52caf67794a8068f1+git:")
    assert source["origin"].startswith("https://raw.githubusercontent.com/wmt-conference/")


def test_the_real_mapping_names_calibration_accounts(real):
    mapping, ratings = real("wmt22-calibration-mapping"), real("wmt22-calibration-hits")
    assert mapping.shape == (736, 2)
    assert mapping["annotator"].nunique() == 80
    assert set(mapping["annotator"]) <= set(ratings["annotator"])
    assert not set(mapping["hit"]) & set(ratings["hit"])


def test_real_files_match_the_manifest(mirrored):
    manifest = pd.read_csv(mirrored("MANIFEST.tsv"), sep="\t", dtype=str)
    places = manifest["repo"] + "/" + manifest["commit"] + "/" + manifest["path"]
    listed = dict(zip(places, zip(manifest["git_blob_sha1"], manifest["bytes"].astype(int))))
    known = [
        (entry.name, unquote(file.path), (file.git, file.bytes))
        for entry in registry.entries().values()
        for file in entry.files
        if file.git
    ]
    assert {name for name, path, _ in known if path not in listed} <= {"wmt22-da-sqm", "wmt23-mqm-thrice"}, "public"
    ours = {path: told for _, path, told in known if path in listed}
    assert len(ours) >= 4 + 60 + 21 + 1
    assert {path: listed[path] for path in ours} == ours


# Finding and fetching


def test_a_mirror_folder_is_read_in_place(toy, tmp_path, monkeypatch):
    monkeypatch.setenv("EVALKIT_DATA_MIRROR", str(put(tmp_path / "mirror")))
    assert data.available("toy")
    assert data.fetch("toy")[0].is_relative_to(tmp_path / "mirror")
    ratings = data.load("toy")
    assert ratings["item_type"].tolist() == ["repeat", "calibration", "calibration"]  # the last row was shown first
    assert ratings.attrs["excluded"] == {"document scores": 1}
    assert not (tmp_path / "cache").exists()
    assert data.verify(["toy"])["state"].tolist() == ["verified", "verified"]
    assert data.listing().to_dict("records") == [
        {"name": "toy", "title": "A toy", "bytes": len(ROWS + HEADER), "licence": "none", "here": True, "released": ""}
    ]


def test_a_mirror_address_fills_the_cache_and_then_rests(toy, tmp_path, monkeypatch, capfd):
    with serving(partial(Folder, directory=put(tmp_path / "mirror"))) as base:
        monkeypatch.setenv("EVALKIT_DATA_MIRROR", base + "/")
        assert not data.available("toy")
        paths = data.fetch(["toy"])
    assert [path.read_bytes() for path in paths] == [ROWS, HEADER]
    assert "rows.csv" in capfd.readouterr().err  # the progress bar
    assert left_over(tmp_path / "cache") == ["header.csv", "rows.csv"]
    assert len(data.load("toy")) == 3  # the server is gone: only the cache is left


def test_offline_forbids_the_network_but_not_the_cache(toy, tmp_path, monkeypatch):
    monkeypatch.setenv("EVALKIT_OFFLINE", "1")
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_: pytest.fail("the network was touched"))
    with pytest.raises(DataError, match=r"a%20b|a b\+c/rows.csv is not in the cache, and EVALKIT_OFFLINE forbids"):
        data.load("toy")
    put(tmp_path / "cache")
    assert len(data.load("toy")) == 3


@pytest.mark.parametrize("damage", [ROWS[:50], ROWS.replace(b"90", b"91"), b""])
def test_a_damaged_cached_file_is_told_or_fetched_again(toy, tmp_path, monkeypatch, damage):
    cache = put(tmp_path / "cache", (ROWS_FILE, damage), (HEADER_FILE, HEADER))
    assert not data.available("toy")
    monkeypatch.setenv("EVALKIT_OFFLINE", "1")
    for refuse in (data.load, data.fetch, data.verify):
        with pytest.raises(DataError) as problem:
            refuse("toy")
        text = str(problem.value)
        assert f"expected git:{ROWS_FILE.git} ({len(ROWS)} bytes)" in text
        assert f"found git:{git(damage)} ({len(damage)} bytes)" in text
        assert str(cache / ROWS_FILE.path) in text
        assert "or delete it and run `evalkit data fetch`" in text
    monkeypatch.delenv("EVALKIT_OFFLINE")
    with serving(partial(Folder, directory=put(tmp_path / "mirror"))) as base:
        monkeypatch.setenv("EVALKIT_DATA_MIRROR", base)
        assert len(data.load("toy")) == 3
    assert left_over(cache) == ["header.csv", "rows.csv"]


def test_a_damaged_or_incomplete_mirror_folder_is_told(toy, tmp_path, monkeypatch):
    mirror = put(tmp_path / "mirror", (ROWS_FILE, ROWS[:-1]))
    monkeypatch.setenv("EVALKIT_DATA_MIRROR", str(mirror))
    with pytest.raises(DataError, match=r"mirror.*rows\.csv is altered or cut short"):
        data.load("toy")
    put(mirror, (ROWS_FILE, ROWS))
    with pytest.raises(DataError, match=r"header.csv is neither in the mirror .*unset EVALKIT_DATA_MIRROR"):
        data.load("toy")
    assert (mirror / ROWS_FILE.path).exists()


def test_missing_files_are_problems_of_named_data_sets_only(toy):
    assert data.verify()["state"].tolist() == ["missing", "missing"]
    with pytest.raises(DataError, match="Run `evalkit data fetch toy`"):
        data.verify(["toy"])


@pytest.mark.parametrize("where", ["closed port", "no such name", "names never answer", "unroutable"])
def test_no_network_is_noticed_within_seconds_and_only_once(toy, monkeypatch, where):
    base = "http://host.invalid"
    if where == "closed port":
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            base = f"http://127.0.0.1:{probe.getsockname()[1]}"
    if where == "no such name":

        def unknown(*_, **__):
            raise socket.gaierror(-2, "Name or service not known")

        monkeypatch.setattr(socket, "getaddrinfo", unknown)
    answered = []
    if where == "names never answer":

        def late(*_, **__):
            time.sleep(60)
            answered.append(True)

        monkeypatch.setattr(socket, "getaddrinfo", late)
        monkeypatch.setattr(downloads, "_RESOLVE", 0.3)
    if where == "unroutable":
        base = "http://192.0.2.1"  # reserved for documentation: nobody answers
        monkeypatch.setattr(downloads, "_CONNECT", 1.0)
    monkeypatch.setenv("EVALKIT_DATA_MIRROR", base)
    with pytest.raises(
        DataError, match=r"could not be fetched: .* does not answer \(\w+\)\. Check the network, or set EVALKIT"
    ):
        data.load("toy")
    with pytest.raises(DataError, match="did not answer a moment ago"):
        data.fetch("toy")
    assert answered == [], "who waits for a name gives up before it comes"


def test_a_server_that_lacks_or_falsifies_the_file(toy, tmp_path, monkeypatch):
    with serving(partial(Folder, directory=put(tmp_path / "mirror", (ROWS_FILE, ROWS.upper())))) as base:
        monkeypatch.setenv("EVALKIT_DATA_MIRROR", base)
        with pytest.raises(DataError, match=r"expected git:\w+ \(\d+ bytes\), found git:\w+ \(\d+ bytes\)"):
            data.fetch("toy")
        put(tmp_path / "mirror", (ROWS_FILE, ROWS * 99))
        with pytest.raises(DataError, match=f"stopped after {len(ROWS)} bytes"):
            data.fetch("toy")
        (tmp_path / "mirror" / ROWS_FILE.path).unlink()
        with pytest.raises(DataError, match="the server answers 404"):
            data.fetch("toy")
    assert left_over(tmp_path / "cache") == []


def test_a_download_that_breaks_off_leaves_nothing(tmp_path, monkeypatch):
    with serving(Stalling) as base:
        monkeypatch.setenv("EVALKIT_DATA_MIRROR", base)
        with pytest.raises(DataError, match="could not be fetched"):
            files.obtain(HEADER_FILE)
    assert left_over(tmp_path / "cache") == []


def test_a_killed_download_leaves_no_half_file_under_a_final_name(tmp_path, monkeypatch):
    cache = tmp_path / "cache"
    job = (
        "from evalkit.data import files\nfrom evalkit.data.registry import File\n"
        f"files.obtain(File(url={HEADER_FILE.url!r}, git={HEADER_FILE.git!r}, bytes={HEADER_FILE.bytes}))\n"
    )
    with serving(type("Slow", (Stalling,), {"stall": 20})) as base:
        child = subprocess.Popen(
            [sys.executable, "-c", job], env=os.environ | {"EVALKIT_DATA_MIRROR": base, "PYTHONPATH": str(ROOT)}
        )
        deadline = time.monotonic() + 20
        while not (parts := list(cache.rglob("*.part"))) and time.monotonic() < deadline:
            time.sleep(0.05)
        child.send_signal(signal.SIGKILL)
        child.wait()
    assert len(parts) == 1, "the download never began"
    assert not (cache / HEADER_FILE.path).exists()
    os.utime(parts[0], (0, 0))  # long ago
    with serving(partial(Folder, directory=put(tmp_path / "mirror"))) as base:
        monkeypatch.setenv("EVALKIT_DATA_MIRROR", base)
        assert files.obtain(HEADER_FILE).read_bytes() == HEADER
    assert left_over(cache) == ["header.csv"]


def test_many_fetching_at_once_do_not_disturb_each_other(tmp_path, monkeypatch):
    with serving(partial(Folder, directory=put(tmp_path / "mirror"))) as base, ThreadPoolExecutor(8) as pool:
        monkeypatch.setenv("EVALKIT_DATA_MIRROR", base)
        paths = list(pool.map(lambda _: files.obtain(ROWS_FILE), range(16)))
    assert {path.read_bytes() for path in paths} == {ROWS}
    assert left_over(tmp_path / "cache") == ["rows.csv"]


def test_a_cache_that_cannot_be_written_is_told(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("EVALKIT_DATA_DIR", str(tmp_path / "file"))
    with pytest.raises(DataError, match=r"cannot be written: Not a directory\. Set EVALKIT_DATA_DIR"):
        files.obtain(HEADER_FILE)


def test_a_file_without_a_digest_is_trusted_once_and_loudly(tmp_path, monkeypatch, capsys):
    file, first, second = raw("x.zip", b"", sha256=None), zip_of(b"first"), zip_of(b"second")
    mirror = put(tmp_path / "mirror", (file, first))
    monkeypatch.setenv("EVALKIT_DATA_MIRROR", str(mirror))
    assert files.recognised(file) == "unknown"
    files.obtain(file)
    assert "no known digest. Taken on trust as sha256:" in capsys.readouterr().err
    assert files.recognised(file).endswith("(trusted on first use)")
    files.obtain(file)
    assert capsys.readouterr().err == ""
    put(mirror, (file, second))
    with pytest.raises(DataError, match=r"altered or cut short.* delete .*x\.zip\.sha256"):
        files.obtain(file)
    files._pin_path(file).write_text(f"sha256:{hashlib.sha256(second).hexdigest()}", encoding="ascii")
    files.obtain(file)
    assert "Taken on trust" in capsys.readouterr().err, "who can write to the cache cannot pin another file silently"


def test_the_fallback_is_loud_and_only_on_demand(toy, monkeypatch):
    monkeypatch.setenv("EVALKIT_OFFLINE", "1")
    with pytest.raises(DataError):
        data.load("toy")
    ratings = data.load("toy", fallback=True)
    source = ratings.attrs["source"]
    assert (source["name"], source["source"]) == ("toy", "simulated")
    assert "calibration_hits, seed 7" in source["origin"]
    assert source["digest"].startswith("sha256:")
    assert "EVALKIT_OFFLINE forbids" in ratings.attrs["why_simulated"]
    assert ratings["annotator"].str.startswith("sim-").all()


def test_loading_optional_data_never_downloads_them(monkeypatch):
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_: pytest.fail("the network was touched"))
    with pytest.raises(DataError, match="Run `evalkit data fetch nllb-xsts`"):
        data.load("nllb-xsts")
    assert data.load("nllb-xsts", fallback=True).attrs["source"]["source"] == "simulated"


# Ratings of one's own


def write(path, rows, header=COLUMNS, encoding="utf-8"):
    path.write_bytes("\n".join([header, *rows, ""]).encode(encoding))
    return path


GOOD = ["eng,jpn,007,d,0,a,90,system", "eng,jpn,007,d,1,a,80.5,system"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("delimiter", [",", "\t", ";"])
def test_reading_ones_own_ratings(tmp_path, encoding, delimiter):
    rows = [row.replace(",", delimiter) for row in GOOD]
    ratings = data.read(write(tmp_path / "my.csv", rows, COLUMNS.replace(",", delimiter), encoding))
    assert ratings["score"].tolist() == [90, 80.5]
    assert ratings["system"].tolist() == ["007", "007"]
    digest = hashlib.sha256((tmp_path / "my.csv").read_bytes()).hexdigest()
    assert ratings.attrs["source"] == {
        "name": "my",
        "source": "real",
        "origin": "my.csv",
        "digest": f"sha256:{digest}",
    }


def test_texts_stay_texts(tmp_path):
    cells = ["<script>alert(1)</script>", "=1+1", "$x$", "**b**", "NA", "nan", "007", 'say ""x"", twice']
    rows = [f'{GOOD[0].replace(",0,", f",{n},")},"{cell}"' for n, cell in enumerate(cells)]
    ratings = data.read(write(tmp_path / "my.csv", rows, COLUMNS + ",hypothesis"))
    assert ratings["hypothesis"].tolist() == [cell.replace('""', '"') for cell in cells]


def test_names_can_be_mapped(tmp_path):
    path = write(tmp_path / "my.csv", GOOD, COLUMNS.replace("annotator", "worker"))
    assert data.read(path, columns={"annotator": "worker"})["annotator"].tolist() == ["a", "a"]
    with pytest.raises(DataError, match=r"my.csv has no column 'rater'; it has src_lang"):
        data.read(path, columns={"annotator": "rater"})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("\n".join([COLUMNS, *GOOD, "eng,jpn,s,d,2,a,104,system"]).encode(), "my.csv, line 4, column score: 104 is ou"),
        (
            "\n".join([COLUMNS, "", '"e\ng",jpn,s,d,0,a,9,system', "", "eng,jpn,s,d,2,a,-1,system"]).encode(),
            "my.csv, line 6, column score: -1 is outside 0-100",
        ),
        ("\n".join([COLUMNS, *GOOD, GOOD[0]]).encode(), "my.csv, line 4, columns src_lang, tgt_lang, "),
        ("\n".join([COLUMNS[:-10], *[row[:-7] for row in GOOD]]).encode(), "my.csv lacks the column item_type; it "),
        (
            "\n".join([COLUMNS, *GOOD, "eng,jpn,s,d,é,a,9,system"]).encode("latin-1"),
            "my.csv, line 4: the byte 0xE9 is not UTF-8 (Latin-1? Windows-1252?). Save the file as CSV in UTF-8.",
        ),
        (COLUMNS.encode("utf-16"), "my.csv, line 1: this is UTF-16 text. Export it as CSV in UTF-8."),
        (COLUMNS.encode("utf-16-le"), "my.csv, line 1: a zero byte"),
        ((COLUMNS + "\n").encode(), "my.csv has no rows below its column names"),
        (b"", "my.csv lacks the columns src_lang"),
        (b"PK\x03\x04rest", "my.csv, line 1: this is a zip archive or a spreadsheet (.xlsx, .ods)"),
        (b"\x1f\x8b\x08rest", "my.csv, line 1: this is compressed"),
        (f"{COLUMNS}\n{GOOD[0]},more".encode(), "my.csv, line 2: 9 cells where 8 columns are named"),
        (f'{COLUMNS}\n{GOOD[0]}\n"eng,jpn'.encode(), "my.csv, line 3: unexpected end of data. Close or do"),
        (f"{COLUMNS},score\n{GOOD[0]},9".encode(), "my.csv has the column score twice"),
    ],
)
def test_bad_files_are_told_with_line_and_remedy(tmp_path, content, message):
    (tmp_path / "my.csv").write_bytes(content)
    with pytest.raises(DataError) as problem:
        data.read(tmp_path / "my.csv")
    assert str(problem.value).startswith(message)


def test_paths_that_are_no_files(tmp_path, monkeypatch):
    for path in (tmp_path / "absent.csv", tmp_path, "nul\0.csv"):
        with pytest.raises(DataError, match=r"cannot be read: .* Check the path"):
            data.read(path)
    monkeypatch.setattr(delimited, "_MOST_BYTES", 10)
    with pytest.raises(DataError, match="larger than"):
        data.read(write(tmp_path / "my.csv", GOOD))


NASTY = st.text(st.sampled_from(",;\t\n\r\"'\0\ufeffeé7.-"), max_size=30)
FILES = st.one_of(
    st.binary(max_size=80),
    NASTY.map(str.encode),
    st.builds(lambda a, b: f"{COLUMNS}\n{a}{GOOD[0]}{b}\n".encode(), NASTY, NASTY),
    st.lists(
        st.tuples(*[st.sampled_from(["", "eng", "system", "7", "nan", "1e999", "-1", "x y"])] * 8), max_size=4
    ).map(lambda rows: "\n".join([COLUMNS, *map(",".join, rows)]).encode()),
    st.builds(lambda at, cut: f"{COLUMNS}\n{GOOD[0]}\n".encode()[:at] + cut, st.integers(0, 90), st.binary(max_size=4)),
)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzz") / "my.csv"


@given(content=FILES)
def test_any_bytes_give_a_valid_table_or_a_data_error(scratch, content):
    scratch.write_bytes(content)
    try:
        ratings = data.read(scratch)
    except DataError:
        return
    assert len(ratings) > 0
    assert ratings["score"].between(0, 100).all()
    assert ratings["item_type"].isin(schemas.ITEM_TYPES).all()
    assert ratings[COLUMNS.split(",")].notna().all(axis=None)


# Appraise's own files


def load_appraise(tmp_path, rows, header=HEADER):
    (tmp_path / "rows.csv").write_bytes(rows)
    (tmp_path / "header.csv").write_bytes(header)
    return appraise.ratings([tmp_path / "rows.csv", tmp_path / "header.csv"])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b"80,", b"180,", "rows.csv, line 2, column score: 180 is outside 0-100"),
        (b",True,", b",Maybe,", "rows.csv, line 3, column isDocScore: neither True nor False"),
        (b"70,d#1-2,False,9.0", b"70,d#1-2,False,10.0", "rows.csv, line 4, columns .* the same as line 1"),
        (b"0,TGT", b"0,BAD", "rows.csv, line 1, column item_type: 'BAD' is none of"),
    ],
)
def test_lines_of_a_file_without_a_header(tmp_path, old, new, message):
    with pytest.raises(DataError, match=message):
        load_appraise(tmp_path, ROWS.replace(old, new))


def test_a_header_that_does_not_fit(tmp_path):
    with pytest.raises(DataError, match=r"header.csv does not name srcLang"):
        load_appraise(tmp_path, ROWS, b"username,score\n")
    with pytest.raises(DataError, match=r"rows\.csv, line 1: 11 cells where 12 columns are named"):
        load_appraise(tmp_path, ROWS, HEADER.replace(b"\n", b",more\n"))
    with pytest.raises(DataError, match=r"header.csv does not name .*docId"):
        load_appraise(tmp_path, ROWS, HEADER.replace(b"docId", b"document"))


# Archives


def zipped(path, members, kind=None, **options):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, **options) as archive:
        for name, content in members:
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            if kind:
                info.external_attr = (kind | 0o644) << 16
            archive.writestr(info, content)
    return path


def tarred(path, members, kind=tarfile.REGTYPE, mode="w:gz"):
    with tarfile.open(path, mode) as archive:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "/etc/passwd"
            info.size = len(content) if kind == tarfile.REGTYPE else 0
            archive.addfile(info, io.BytesIO(content))
    return path


def both(tmp_path, members):
    return zipped(tmp_path / "a.zip", members), tarred(tmp_path / "a.tgz", members)


def test_one_file_is_read_out_of_an_archive(tmp_path):
    members = [("top/other.tsv", b"o"), ("top/x.tsv", b"content" * 1000)]
    assert archives.member(zipped(tmp_path / "a", members), "x.tsv") == b"content" * 1000
    for mode in ("w", "w:gz", "w:bz2", "w:xz"):
        assert archives.member(tarred(tmp_path / "a", members, mode=mode), "x.tsv") == b"content" * 1000


@pytest.mark.parametrize("name", ["../x", "a/../../x", "/etc/x", "C:\\x", "\\\\host\\x", "..\\x"])
def test_names_that_lead_out_are_refused(tmp_path, name):
    for path in both(tmp_path, [("good", b"g"), (name, b"bad")]):
        with pytest.raises(DataError, match="leads out of the archive"):
            archives.member(path, "good")


def test_links_and_devices_are_refused(tmp_path):
    for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE):
        with pytest.raises(DataError, match="is a link or a device"):
            archives.member(tarred(tmp_path / "a.tgz", [("x", b"")], kind), "x")
    for kind in (stat.S_IFLNK, stat.S_IFCHR, stat.S_IFIFO):
        with pytest.raises(DataError, match="is a link or a device"):
            archives.member(zipped(tmp_path / "a.zip", [("x", b"/etc/passwd")], kind), "x")


def test_bombs_do_not_burst(tmp_path):
    for path in both(tmp_path, [("x", bytes(3_000_000))]):
        with pytest.raises(DataError, match="unpacks to more than 1000000 bytes"):
            archives.member(path, "x", most_bytes=1_000_000)
    for path in both(tmp_path, [(str(n), b"") for n in range(30)]):
        with pytest.raises(DataError, match="more than 20 files"):
            archives.member(path, "1", most_files=20)
    hidden = tarfile.TarInfo("y")
    hidden.type, hidden.size = tarfile.XHDTYPE, 8_000_000  # a header that is itself the bomb
    with tarfile.open(tmp_path / "pax.tgz", "w:gz") as archive:
        archive.addfile(hidden, io.BytesIO(bytes(8_000_000)))
    with pytest.raises(DataError, match="unpacks to more than 1000000 bytes"):
        archives.member(tmp_path / "pax.tgz", "x", most_bytes=1_000_000)
    content = zipped(tmp_path / "lie.zip", [("x", bytes(3_000_000))]).read_bytes()
    (tmp_path / "lie.zip").write_bytes(content.replace((3_000_000).to_bytes(4, "little"), (10).to_bytes(4, "little")))
    with pytest.raises(DataError, match="no sound zip or tar"):
        archives.member(tmp_path / "lie.zip", "x", most_bytes=1_000_000)


def test_damaged_and_ambiguous_archives_are_told(tmp_path):
    for path in both(tmp_path, [("a/x", os.urandom(5000)), ("b/x", b"2")]):
        with pytest.raises(DataError, match="has 2 files x, not 1; it holds a/x, b/x"):
            archives.member(path, "x")
        with pytest.raises(DataError, match="has 0 files y"):
            archives.member(path, "y")
        path.write_bytes(path.read_bytes()[:3000])
        with pytest.raises(DataError, match="no sound zip or tar archive"):
            archives.member(path, "x")


STARTS = st.sampled_from([b"", b"PK\x03\x04", b"PK\x05\x06", b"\x1f\x8b\x08\0", b"BZh9", b"\xfd7zXZ\0", b"x\0" * 256])


@given(content=st.builds(bytes.__add__, STARTS, st.binary(max_size=600)))
def test_any_bytes_as_an_archive_give_a_data_error(scratch, content):
    scratch.write_bytes(content)
    with pytest.raises(DataError):
        archives.member(scratch, "x")


# XSTS archives


WIDE = "source_lang\ttarget_lang\tsrc\thyp\tr1\tr2\r\neng\tswh\thello\thabari\t4\t5\r\neng\tswh\tbye\tkwaheri\t3\t\r\n"
SIDES = {"src_lang": "source_lang", "tgt_lang": "target_lang", "source": "src", "hypothesis": "hyp"}
NAMES = SIDES | {"score": ["r1", "r2"]}


def test_xsts_scores_in_columns_become_rows(tmp_path):
    path = zipped(tmp_path / "a.zip", [(f"NLLB/{xsts.MEMBER}", WIDE.encode())])
    ratings = xsts.ratings([path], columns=NAMES)
    found = ratings[["annotator", "segment", "score"]].values.tolist()
    assert found == [["r1", "hello", 4.0], ["r1", "bye", 3.0], ["r2", "hello", 5.0]]
    assert ratings.attrs["excluded"] == {"cells without a score": 1}
    assert set(ratings["item_type"]) == {"system"}


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (None, "the columns here are source_lang, .*, r2; needed are src_lang, tgt_lang, score; not mapped: src_lang"),
        (NAMES | {"score": "r1"}, "needed are src_lang, tgt_lang, score, annotator; not mapped: annotator"),
        (NAMES | {"score": ["r1", "r3"]}, "not in the file: r3"),
        (NAMES | {"rater": "r1"}, "not ours: rater"),
    ],
)
def test_xsts_columns_that_are_not_mapped(tmp_path, columns, message):
    path = zipped(tmp_path / "a.zip", [(xsts.MEMBER, WIDE.encode())])
    with pytest.raises(DataError, match=message):
        xsts.ratings([path], columns=columns)


def test_xsts_scores_off_the_scale_are_told_with_their_line(tmp_path):
    path = zipped(tmp_path / "a.zip", [(xsts.MEMBER, WIDE.replace("3\t", "6\t").encode())])
    with pytest.raises(DataError, match=r"tsv, line 3, column score: 6 is outside 1-5"):
        xsts.ratings([path], columns=NAMES)


def test_an_archive_that_the_user_has_is_loaded_through_the_registry(tmp_path, monkeypatch):
    file = registry.entry("nllb-xsts").files[0]
    place = tmp_path / "mirror" / file.path
    place.parent.mkdir(parents=True)
    zipped(place, [(xsts.MEMBER, WIDE.encode())])
    monkeypatch.setenv("EVALKIT_DATA_MIRROR", str(tmp_path / "mirror"))
    ratings = data.load("nllb-xsts", columns=NAMES)
    assert len(ratings) == 3
    assert ratings.attrs["source"]["digest"].endswith("(trusted on first use)")


def test_a_parameter_can_name_a_file_with_other_column_names(tmp_path):
    theirs = simulate.xsts_campaign(seed=1).rename(columns={"annotator": "rater", "score": "mark"})
    theirs.to_csv(tmp_path / "mine.csv", index=False)
    mine = data.choose(str(tmp_path / "mine.csv"), columns="annotator=rater, score=mark", scale=[1, 5])
    assert (mine.attrs["scale"], mine.attrs["source"]["source"]) == ((1.0, 5.0), "real")
    assert mine["score"].tolist() == theirs["mark"].tolist()
    with pytest.raises(DataError, match="score names several columns"):
        data.choose(str(tmp_path / "mine.csv"), columns="score=mark+rater")
    with pytest.raises(DataError, match="'score' is not of the form"):
        data.column_names("score")


@pytest.mark.parametrize(("here", "chosen"), [({"nllb-xsts"}, "nllb-xsts"), (set(), "wmt22-calibration-hits")])
def test_auto_takes_the_first_data_set_that_is_here_or_the_last(monkeypatch, here, chosen):
    monkeypatch.setattr(data, "available", lambda name: name in here)
    monkeypatch.setattr(data, "load", lambda name, **_: name)
    assert data.choose("auto", auto=["nllb-xsts", "wmt22-calibration-hits"]) == chosen
