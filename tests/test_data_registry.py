"""The registry names no place outside the cache, whatever is written in it, and damage to it is told."""

from pathlib import Path

import pytest

from evalkit import DataError, data
from evalkit.data import registry, settings
from evalkit.data.registry import File
from tests.doors.registry import ADDRESSES

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


INSIDE = {"https://h/a%252e%252e/b", "https://h/%ff%fe", "https://h/a/..;/b"}


@pytest.mark.parametrize("address", sorted({*ADDRESSES} - INSIDE))
def test_an_address_that_leaves_the_cache_is_refused_when_the_registry_is_read(address, written):
    written(TOY.replace("https://example.org/x.csv", address.replace("\\", "\\\\")))
    with pytest.raises(DataError, match=r"registry\.toml, entry toy: the address .* names no file inside the cache"):
        registry.entries()


@pytest.mark.parametrize(
    "address", ["https://h/a%252e%252e/b", "https://h/a/..;/b", "https://example.org/a b+c/x%20y.csv"]
)
def test_an_odd_address_inside_the_cache_is_read(address):
    assert File(address).path == address.removeprefix("https://")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"A toy"', "3", "title = 3 is of another type than str"),
        ('licence = "none"\n', "", "it has no licence"),
        ('"nobody"', '"nobody"\npapper = 1', "unknown field 'papper'"),
        ("appraise.ratings", "os.path.join", "names no function"),
        ('"nobody"', '"nobody"\nscale = [5, 1]', "not a lowest and a highest score"),
        ('"nobody"', '"nobody"\nscale = [0, nan]', "not a lowest and a highest score"),
        ('"nobody"', '"nobody"\noptional = "no"', "optional = 'no' is of another type than bool"),
        ('x.csv"', 'x.csv"\ngit = "abc"', "git = 'abc' is no digest of 40"),
        ('x.csv"', 'x.csv"\nsha256 = 7', "sha256 = 7 is of another type than str"),
        ('x.csv"', 'x.csv"\nbytes = -1', "bytes = -1 is no size"),
        ('x.csv"', f'x.csv"\nbytes = 0x{"f" * 9000}', "bytes = a long int is no size"),
        ('x.csv"', 'x.csv"\nbytes = true', "bytes = True is of another type than int"),
        ("[toy]", "['../toy']", "its name is also a file's"),
        ("[[toy.files]]\nurl", "[toy.x]\nurl", "it has no files"),
        ("[toy]", "x = 1\n[toy]", "'x': it is no table of fields"),
        ("[toy]", "x = " + "[" * 5000 + "\n[toy]", "registry.toml cannot be read: it is nested too deeply"),
        ("[toy]", "a." * 40_000 + "a = 1\n[toy]", "registry.toml, line 1: a name of more than 100 parts"),
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


def test_settings_of_any_size_are_read_within_bounds(tmp_path):
    (tmp_path / "s.toml").write_text("a = [" + "[]," * 2_000_000 + "]")
    with pytest.raises(DataError, match=r"s\.toml is larger than 4 MB, so it is no file of settings\. Mend it\."):
        settings.toml(tmp_path / "s.toml", remedy="Mend it.")
