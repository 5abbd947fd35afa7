"""Rows of Table 1 from vectors, a model and scores of this test's own making, which say nothing of the metrics."""

from collections import Counter

import numpy as np
import pytest
from scipy import stats

from evalkit import DataError, data, show
from evalkit.metrics import lexical
from evalkit.neural import pretrained
from evalkit.papers.sai2023 import given


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("EVALKIT_DATA_DIR", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def tamil(real):
    ratings = real("indicmt-mqm")
    return ratings[ratings["tgt_lang"] == "tam"].head(150).reset_index(drop=True)


@pytest.fixture
def drawn(tamil, tmp_path):
    """Write a file of random vectors for the words of the references."""
    split = given.vectors._splitter("intl")
    words = Counter(word for text in tamil["reference"] for word in split(text).split())
    numbers = np.random.default_rng(7).normal(size=(len(words), 8)).round(3)
    found = dict(zip(words, numbers, strict=True))
    lines = [f"{word} {' '.join(map(str, vector))}\n" for word, vector in found.items()]
    (tmp_path / "ta.vec").write_text(f"{len(found)} 8\n{''.join(lines)}", encoding="utf-8")
    return tmp_path / "ta.vec", found


def test_vectors_fill_their_rows_for_the_languages_that_have_them(tamil, drawn):
    path, found = drawn
    rows = given.table1(tamil, files={"tam": path})
    assert sorted(rows["cell"]) == sorted(f"{m}, ta, {r}" for m in ("EA", "VE", "GM") for r in ("pearson", "kendall"))
    split, mean = given.vectors._splitter("intl"), np.mean(list(found.values()), axis=0)
    sums = [[sum(found.get(word, mean) for word in split(text).split()) for text in tamil[side]]
            for side in ("hypothesis", "reference")]  # fmt: skip
    ea = [a @ b / np.sqrt(a @ a * (b @ b)) for a, b in zip(*sums, strict=True)]
    computed = rows.set_index("cell")["computed"]
    gold = tamil["score"].clip(lower=0)
    assert computed["EA, ta, kendall"] == pytest.approx(stats.kendalltau(ea, gold).statistic)
    assert computed["EA, ta, pearson"] == pytest.approx(stats.pearsonr(ea, gold).statistic)


def test_rows_are_fit_for_the_comparison_with_print(tamil, drawn):
    rows = given.table1(tamil, files={"tam": drawn[0]})
    assert set(rows["basis"]) == {"recomputed from data"}
    assert rows["place"].str.fullmatch(r"sai2023_table1:\d+:(pearson|kendall)").all()
    show.compare(rows, data=tamil, caption="Made up")
    printed = data.published("sai2023_table1")
    for row in rows.to_dict("records"):
        _, line, column = row["place"].split(":")
        assert printed.loc[int(line) - 2, column] == row["printed"]


def test_a_model_and_scores_from_elsewhere_fill_theirs_and_five_languages_the_average(real, monkeypatch):
    ratings = real("indicmt-mqm").groupby("tgt_lang", sort=False).head(60).reset_index(drop=True)
    scored = lexical.scores(ratings, metrics=["chrF"])["chrF"]
    monkeypatch.setattr(pretrained, "scores", lambda table, *, metrics, models, python: table.assign(LaBSE=-scored))
    rows = given.table1(ratings.assign(PRISM=scored), models={"LaBSE": "a"}, columns=["PRISM"], python="p")
    computed = rows.set_index("cell")["computed"].astype(float)
    assert len(computed) == 2 * 6 * 2
    for column, correlation in (("kendall", stats.kendalltau), ("pearson", stats.pearsonr)):
        wanted = [correlation(scored[part.index], part["score"].clip(lower=0)).statistic
                  for _, part in ratings.groupby("tgt_lang")]  # fmt: skip
        assert computed[f"PRISM, average, {column}"] == pytest.approx(np.mean(wanted))
        assert computed[f"LabSE embs, average, {column}"] == pytest.approx(-np.mean(wanted))


def test_what_is_not_given_or_unknown_is_refused(tamil, drawn):
    with pytest.raises(DataError, match="No word vectors, model or scores were given"):
        given.table1(tamil)
    with pytest.raises(DataError, match="No metric is called 'Prism'"):
        given.table1(tamil, columns=["Prism"])
    with pytest.raises(DataError, match=r"no 'ta' here\. Choose among tam"):
        given.table1(tamil, files={"ta": drawn[0]})
    with pytest.raises(DataError, match="no column 'PRISM'"):
        given.table1(tamil, columns=["PRISM"])
