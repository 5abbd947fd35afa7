"""The registry names no place outside the cache, whatever is written in it, and damage to it is told."""

from pathlib import Path

import pytest

from evalkit import DataError, data
from evalkit.data import registry
from evalkit.data.registry import File

TOY = """[toy]
title = "A toy"
licence = "none"
citation = "nobody"
loader = "appraise.ratings"
[[toy.files]]
url = "https://example.org/x.csv"
"""


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Put another text in the registry's place."""

    def write(text):
        (tmp_path / "registry.toml").write_text(text, encoding="utf-8")
        registry._contents.cache_clear()

    monkeypatch.setattr(registry, "_PLACE", tmp_path / "registry.toml")
    monkeypatch.setenv("EVALKIT_DATA_DIR", str(tmp_path / "cache"))
    yield write
    registry._contents.cache_clear()


OUTSIDE = r"""https://h/../../x.csv https://h/%2e%2e/%2E%2E%2fx.csv https://../x.csv https://h/a/./b https://h//x.csv /x.csv
file:///etc/passwd ../x.csv https:///x.csv https://h\..\x.csv https://h/..%5cx.csv C:\x.csv https://h/a%00b https://h/%0a
https://u:p@h/x https://%2e%2e/x.csv ftp://h/x http://[ https://h/ https://h //h/x https:x.csv https://h:99999/x
https://raw.githubusercontent.com/../x.csv https://raw.githubusercontent.com//../x https://RAW.githubusercontent.com/../x
https://raw.githubusercontent.com/%2fetc/passwd https://raw.githubusercontent.com/ https://%2f/etc/passwd"""


@pytest.mark.parametrize("address", OUTSIDE.split())
def test_an_address_that_leaves_the_cache_is_refused_when_the_registry_is_read(address, written):
    written(TOY.replace("https://example.org/x.csv", address.replace("\\", "\\\\")))
    with pytest.raises(DataError, match=r"registry\.toml, entry toy: .* no file inside the cache"):
        registry.entries()


@pytest.mark.parametrize(
    "address", ["https://h/a%252e%252e/b", "https://h/a/..;/b", "https://example.org/a b+c/x%20y.csv"]
)
def test_an_odd_address_inside_the_cache_is_read(address):
    assert File(address).path == address.removeprefix("https://")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"A toy"', "3", "title = 3"),
        ('"nobody"', '"nobody"\npapper = 1', "'papper'"),
        ("appraise.ratings", "os.path.join", "names no function"),
        ('"nobody"', '"nobody"\nscale = [5, 1]', "a lowest and a highest score"),
        ('"nobody"', '"nobody"\noptional = "no"', "optional = 'no'"),
        ('"nobody"', '"nobody"\nreleased = "2022-02-30"\ndated_by = "file name"', "neither a year nor a date"),
        ('"nobody"', '"nobody"\nreleased = "2022"\ndated_by = "hearsay"', "dated_by = 'hearsay'"),
        ('x.csv"', 'x.csv"\ngit = "abc"', "git = 'abc'"),
        ('x.csv"', 'x.csv"\nbytes = true', "bytes = True"),
        ("[toy]", "['../toy']", "its name"),
        ("[[toy.files]]\nurl", "[toy.x]\nurl", "no files"),
        ("[toy]", "x = " + "[" * 5000 + "\n[toy]", "nested too deeply"),
        ("[toy]", "a." * 40_000 + "a = 1\n[toy]", "line 1: a name"),
    ],
)
def test_damage_is_told_with_its_place(old, new, told, written):
    assert old in TOY
    written(TOY.replace(old, new))
    with pytest.raises(DataError) as problem:
        data.listing()
    assert told in str(problem.value)
    assert "\n" not in str(problem.value)


def test_a_loader_that_is_not_there_is_told(written, monkeypatch):
    written(TOY.replace("appraise.ratings", "appraise.absent"))
    monkeypatch.setattr("evalkit.data.files.obtain", lambda file: Path())
    with pytest.raises(DataError, match=r"registry\.toml names appraise\.absent, which evalkit\.data has not"):
        data.load("toy")
