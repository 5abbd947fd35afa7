"""Data are verified at every load; whatever can go wrong with a file, a server or the registry is told and mended."""

import contextlib
import hashlib
import http.server
import os
import re
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pkgutil import resolve_name
from urllib.parse import unquote

import pandas as pd
import pytest

from evalkit import ROOT, DataError, data
from evalkit.data import files, importing, protocols, registry, stand_ins
from evalkit.data.registry import Entry, File
from tests.makers import each
from tests.workbooks import tarred, zipped

HEADER = b"username,system,itemId,itemType,srcLang,trgLang,score,docId,isDocScore,timeStart,timeEnd\n"
ROWS = b"""a1,S,0,TGT,eng,ces,90,d#1-2,False,10.0,11.0
a1,S,1,TGT,eng,ces,80,d#1-2,False,11.0,12.0
a1,S,1,TGT,eng,ces,85,d#1-2,True,12.0,13.0
a1,S,0,TGT,eng,ces,70,d#1-2,False,9.0,10.0
"""


def git(content):
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def raw(name, content):
    """Register ``content`` as a file of a repository."""
    url = f"https://raw.githubusercontent.com/owner/repo/commit/a b+c/{name}"
    return File(url=url, git=git(content), bytes=len(content))


HEADER_FILE, ROWS_FILE = raw("header.csv", HEADER), raw("rows.csv", ROWS)


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch, request):
    """Give each test a cache of its own; those without real data get no mirror either."""
    monkeypatch.setenv("EVALKIT_DATA_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("EVALKIT_SALT_FILE", str(tmp_path / "salt"))
    monkeypatch.delenv("EVALKIT_OFFLINE", raising=False)
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    if not {"real", "mirrored"} & set(request.fixturenames):
        monkeypatch.delenv("EVALKIT_DATA_MIRROR", raising=False)


@pytest.fixture
def toy(monkeypatch):
    """Register one small data set of two files."""
    entry = Entry(
        "toy", "A toy", "none", "nobody", "protocols.calibration_hits", (ROWS_FILE, HEADER_FILE), stand_in=True
    )
    monkeypatch.setattr(registry, "entries", lambda: {"toy": entry})
    monkeypatch.setitem(stand_ins.recipes(), "toy", stand_ins.recipes()["wmt22-calibration-hits"])


def put(folder, *pairs):
    """Lay files out as a mirror does."""
    for file, content in pairs or ((ROWS_FILE, ROWS), (HEADER_FILE, HEADER)):
        place = folder / file.path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    return folder


class Folder(http.server.SimpleHTTPRequestHandler):
    """Serve a folder without a word."""

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def serving(handler):
    """Serve HTTP on a free port of this machine."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def left_over(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


# The registry and real data


def test_digests_are_gits_and_sha256s_own(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"hello\n")
    assert registry.digest(path, kind="git") == "git:ce013625030ba8dba906f756967f9e9ca394464a"  # git hash-object
    assert registry.digest(path) == "sha256:5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"


def test_every_data_set_has_a_licence_a_loader_a_digest_and_a_date_that_says_what_it_is_the_date_of():
    for name, entry in registry.entries().items():
        assert entry.licence, name
        assert entry.citation, name
        assert callable(resolve_name(f"evalkit.data.{entry.loader}"))
        assert all(entry.optional or (file.git and file.bytes) for file in entry.files), f"{name} is taken on trust"
        assert (entry.dated_by == "publication") == (len(entry.released) == 4), f"{name}: years are from papers"
        for file in entry.files:
            assert not {"", ".", ".."} & {*unquote(file.path).split("/")}, f"{file.url} has no place inside the cache"
            assert len(file.git or file.sha256 or "a" * 40) == (64 if file.sha256 else 40)


def test_real_files_match_the_manifest(mirrored):
    manifest = pd.read_csv(mirrored("MANIFEST.tsv"), sep="\t", dtype=str)
    places = manifest["repo"] + "/" + manifest["commit"] + "/" + manifest["path"]
    listed = dict(zip(places, zip(manifest["git_blob_sha1"], manifest["bytes"].astype(int))))
    known = [(entry.name, file) for entry in registry.entries().values() for file in entry.files if file.git]
    absent = {name for name, file in known if unquote(file.path) not in listed}
    assert absent <= {"wmt22-da-sqm"}, "public"
    ours = {place: (file.git, file.bytes) for _, file in known if (place := unquote(file.path)) in listed}
    assert len(ours) >= 4 + 60 + 21 + 1
    assert {path: listed[path] for path in ours} == ours


# Finding and fetching


def test_a_mirror_folder_is_read_in_place(toy, tmp_path, monkeypatch):
    monkeypatch.setenv("EVALKIT_DATA_MIRROR", str(put(tmp_path / "mirror")))
    assert data.available("toy")
    assert data.fetch("toy")[0].is_relative_to(tmp_path / "mirror")
    ratings = data.load("toy")
    assert ratings["item_type"].tolist() == ["repeat", "calibration", "calibration"]  # the last row was shown first
    assert ratings.attrs["excluded"] == {"scores of whole documents": 1}
    assert not (tmp_path / "cache").exists()
    assert data.verify(["toy"])["state"].tolist() == ["verified", "verified"]
    [listed] = data.listing().to_dict("records")
    assert (listed["name"], listed["bytes"], listed["here"]) == ("toy", len(ROWS + HEADER), True)


def test_a_mirror_address_fills_the_cache_and_then_rests(toy, tmp_path, monkeypatch, capfd):
    with serving(partial(Folder, directory=put(tmp_path / "mirror"))) as base:
        monkeypatch.setenv("EVALKIT_DATA_MIRROR", base + "/")
        assert not data.available("toy")
        with ThreadPoolExecutor(4) as pool:  # many at once do not disturb each other
            fetched = list(pool.map(lambda _: data.fetch(["toy"]), range(8)))
    assert all([path.read_bytes() for path in paths] == [ROWS, HEADER] for paths in fetched)
    assert "rows.csv" in capfd.readouterr().err  # the progress bar
    assert left_over(tmp_path / "cache") == ["header.csv", "rows.csv"]
    assert len(data.load("toy")) == 3  # the server is gone: only the cache is left


def test_offline_forbids_the_network_but_not_the_cache(toy, tmp_path, monkeypatch):
    monkeypatch.setenv("EVALKIT_OFFLINE", "1")
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_: pytest.fail("the network was touched"))
    with pytest.raises(DataError, match=r"rows.csv .*EVALKIT_OFFLINE"):
        data.load("toy")
    simulated = data.load("toy", fallback=True)
    assert (simulated.attrs["source"]["name"], simulated.attrs["source"]["source"]) == ("toy", "simulated")
    assert "EVALKIT_OFFLINE forbids" in simulated.attrs["why_simulated"]
    assert simulated["annotator"].str.startswith("sim-").all()
    put(tmp_path / "cache")
    assert len(data.load("toy")) == 3


def test_optional_data_are_never_downloaded_by_loading_them(monkeypatch):
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_: pytest.fail("the network was touched"))
    with pytest.raises(DataError, match="evalkit data fetch nllb-xsts"):
        data.load("nllb-xsts")
    assert data.load("nllb-xsts", fallback=True).attrs["source"]["source"] == "simulated"


@pytest.mark.parametrize("damage", [ROWS[:50], ROWS.replace(b"90", b"91"), b""])
def test_a_damaged_cached_file_is_told_or_fetched_again(toy, tmp_path, monkeypatch, damage):
    cache = put(tmp_path / "cache", (ROWS_FILE, damage), (HEADER_FILE, HEADER))
    assert not data.available("toy")
    monkeypatch.setenv("EVALKIT_OFFLINE", "1")
    for refuse in (data.load, data.fetch, data.verify):
        with pytest.raises(DataError, match=rf"{ROWS_FILE.git}.*{git(damage)}"):
            refuse("toy")
    monkeypatch.delenv("EVALKIT_OFFLINE")
    with serving(partial(Folder, directory=put(tmp_path / "mirror"))) as base:
        monkeypatch.setenv("EVALKIT_DATA_MIRROR", base)
        assert len(data.load("toy")) == 3
    assert left_over(cache) == ["header.csv", "rows.csv"]


def test_missing_files_are_problems_of_named_data_sets_only(toy):
    assert data.verify()["state"].tolist() == ["missing", "missing"]
    with pytest.raises(DataError, match="evalkit data fetch toy"):
        data.verify(["toy"])


def test_what_a_server_lacks_or_falsifies_is_told_and_leaves_nothing(toy, tmp_path, monkeypatch):
    mirror = put(tmp_path / "mirror")
    with serving(partial(Folder, directory=mirror)) as base:
        monkeypatch.setenv("EVALKIT_DATA_MIRROR", base)
        put(mirror, (ROWS_FILE, ROWS.upper()))
        with pytest.raises(DataError, match=f"found git:{git(ROWS.upper())}"):
            data.fetch("toy")
        (mirror / ROWS_FILE.path).unlink()
        with pytest.raises(DataError, match="404"):
            data.fetch("toy")
    assert left_over(tmp_path / "cache") == []


def test_a_cache_that_cannot_be_written_is_told(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("EVALKIT_DATA_DIR", str(tmp_path / "file"))
    with pytest.raises(DataError, match="Set EVALKIT_DATA_DIR"):
        files.obtain(HEADER_FILE)


# Ratings of one's own


def test_a_parameter_can_name_a_file_with_other_column_names(tmp_path):
    theirs = stand_ins.stand_in("nllb-xsts", seed=1).rename(columns={"annotator": "rater", "score": "mark"})
    theirs.to_csv(tmp_path / "mine.csv", index=False)
    mine = data.choose(str(tmp_path / "mine.csv"), columns="annotator=rater, score=mark", scale=[1, 5])
    assert (mine.attrs["scale"], mine.attrs["source"]["source"]) == ((1.0, 5.0), "real")
    assert mine["score"].tolist() == theirs["mark"].tolist()
    for columns, told in (
        ("annotator=nobody", "lacks score.*columns= does what --map does"),
        ("score", "not of the form"),
    ):
        with pytest.raises(DataError, match=told):
            data.choose(str(tmp_path / "mine.csv"), columns=columns)


# Archives


def test_one_file_is_read_out_of_an_archive(tmp_path):
    members = {"top/other.tsv": b"o", "top/x.tsv": b"content" * 1000}
    (tmp_path / "zip").write_bytes(zipped(members))
    packed = [tarred(tmp_path / str(n), members, mode) for n, mode in enumerate(("w", "w:gz", "w:bz2", "w:xz"))]
    assert {files.member(place, "x.tsv") for place in (tmp_path / "zip", *packed)} == {b"content" * 1000}


@pytest.mark.parametrize(("names", "told"), [(["a/x", "b/x"], "2 files x"), (["y"], "0 files x")])
def test_an_archive_that_is_ambiguous_is_refused(tmp_path, names, told):
    members = dict.fromkeys(names, b"1")
    (tmp_path / "zip").write_bytes(zipped(members))
    for place in (tmp_path / "zip", tarred(tmp_path / "tar", members)):
        with pytest.raises(DataError, match=told):
            files.member(place, "x")


# XSTS archives

WIDE = "source_lang\ttarget_lang\tsrc\thyp\tr1\tr2\r\neng\tswh\thello\thabari\t4\t5\r\neng\tswh\tbye\tkwaheri\t3\t\r\n"
SIDES = {"src_lang": "source_lang", "tgt_lang": "target_lang", "source": "src", "hypothesis": "hyp"}
NAMES = SIDES | {"score": ["r1", "r2"]}


def test_xsts_scores_in_columns_become_rows(tmp_path):
    path = tmp_path / "a.zip"
    path.write_bytes(zipped({f"NLLB/{protocols.XSTS}": WIDE}))
    ratings = protocols.xsts([path], columns=NAMES)
    found = ratings[["annotator", "source", "system", "score"]].values.tolist()
    assert sorted(found) == [
        ["r1", "bye", "nllb-200", 3.0],
        ["r1", "hello", "nllb-200", 4.0],
        ["r2", "hello", "nllb-200", 5.0],
    ]
    with pytest.raises(DataError, match="r3"):
        protocols.xsts([path], columns=NAMES | {"score": ["r1", "r3"]})


# Passwords in addresses, and files that nobody knows the digest of


CONTENT = b"segment,score\n1,90\n2,80\n"
KNOWN = File(url="https://example.org/data/r.csv", sha256="0" * 64, bytes=len(CONTENT))
UNKNOWN = File(url="https://example.org/data/r.csv")
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


# The registry names places inside the cache, and the README says what it says


README = (ROOT / "data" / "README.md").read_text(encoding="utf-8")


def test_every_data_set_is_described_with_its_licence_and_citation():
    for name, entry in registry.entries().items():
        assert f"\n### `{name}`" in README, f"{name} has no section in data/README.md"
        for text in (entry.title, entry.licence, entry.citation, entry.loader, entry.files[0].url):
            assert text in README, f"{name}: {text}"


EXAMPLES = dict(re.findall(r"\(`([\w.-]+)`[^\n]*\n```\n(.*?)```", README, re.DOTALL))


@each
def test_the_examples_of_files_are_read_as_they_stand(name, form, scores, tmp_path, own_salt):
    (tmp_path / name).write_text(EXAMPLES[name], encoding="utf-8")
    importing.import_campaign([tmp_path / name], tmp_path / "campaign.parquet")
    ratings, _ = importing.open_campaign(tmp_path / "campaign.parquet")
    assert sorted(ratings["score"]) == sorted(scores)
    assert set(ratings["system"]) == {"Alpha", "Beta"}
    assert ratings.attrs["reading"]["format"] == form
