"""The registry names places inside the cache, and damage to it is told."""

from pathlib import Path
from urllib.parse import unquote

import pytest

from evalkit import DataError, data
from evalkit.data import registry

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


def test_every_file_has_a_place_of_its_own_inside_the_cache():
    for entry in registry.entries().values():
        for file in entry.files:
            assert not {"", ".", ".."} & {*unquote(file.path).split("/")}, file.url
            assert len(file.git or file.sha256 or "a" * 40) == (64 if file.sha256 else 40)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"nobody"', '"nobody"\npapper = 1', "'papper'"),
        ("[[toy.files]]\nurl", "[toy.x]\nurl", "files"),
        ("[toy]", "[toy", "cannot be read"),
        ("[toy]", "x = " + "[" * 5000 + "\n[toy]", "cannot be read"),
    ],
)
def test_damage_is_told_with_its_place(old, new, told, written):
    assert old in TOY
    written(TOY.replace(old, new))
    with pytest.raises(DataError, match=rf"registry\.toml.*{told}"):
        data.listing()


def test_a_loader_that_is_not_there_is_told(written, monkeypatch):
    written(TOY.replace("appraise.ratings", "appraise.absent"))
    monkeypatch.setattr("evalkit.data.files.obtain", lambda file: Path())
    with pytest.raises(DataError, match=r"registry\.toml names appraise\.absent, which evalkit\.data has not"):
        data.load("toy")
