"""The registry names places inside the cache, damage to it is told, and the README says what it says."""

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from evalkit import ROOT, DataError, data
from evalkit.data import importing, registry

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


README = (ROOT / "data" / "README.md").read_text(encoding="utf-8")


def test_the_list_of_data_sets_is_made_from_the_registry():
    assert README.partition(registry.CATALOGUE)[2] == f"\n{registry.catalogue()}", "run: make catalogue"


def test_the_part_on_ones_own_campaign_is_short():
    own = README.partition("## A campaign of your own")[2].partition("\n## ")[0]
    assert len(own.splitlines()) <= 120


EXAMPLES = dict(re.findall(r"\(`([\w.-]+)`[^\n]*\n```\n(.*?)```", README, re.DOTALL))


@pytest.mark.parametrize(
    ("name", "form", "scores"),
    [
        ("scores.en-de.csv", "csv", [72, 65, 70, 71]),
        ("systems.csv", "csv", [72, 65, 88, 91, 70, 71]),
        ("errors.tsv", "mqm", [-1, 0]),
        ("preferences.csv", "preferences", [1, 0, 0.5, 0.5, 0, 1]),
        ("appraise.csv", "appraise", [72, 65]),
    ],
)
def test_the_examples_of_files_are_read_as_they_stand(name, form, scores, tmp_path, own_salt):
    (tmp_path / name).write_text(EXAMPLES[name], encoding="utf-8")
    importing.import_campaign([tmp_path / name], tmp_path / "campaign.parquet")
    ratings, _ = importing.open_campaign(tmp_path / "campaign.parquet")
    assert sorted(ratings["score"]) == sorted(scores)
    assert set(ratings["system"]) == {"Alpha", "Beta"}
    assert ratings.attrs["reading"]["format"] == form
