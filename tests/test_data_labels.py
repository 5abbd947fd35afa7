"""Label files, lists of assessments and sign language scores: what the loaders read and keep."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evalkit.data import appraise, direct, languages
from tests.workbooks import tarred

SUDOH = "004"


def test_the_order_and_the_letters_are_the_papers(paper):
    lines = paper(SUDOH).splitlines()
    for dimension, first, rows in (("fluency", "Incomprehensible (F)", 5), ("adequacy", "Incomprehensible (N)", 7)):
        start = next(n for n, line in enumerate(lines) if line.startswith(first))
        printed = [line.split("\t")[0] for line in lines[start : start + rows]]
        assert printed == [f"{name} ({letter})" for letter, name in direct.LABELS[dimension].items()]


DA = (
    "MIR-MU/regemt/e8d6e233bc8b9b4fdbe498fd54c091897484bbcf/data_dir/DAseg-wmt-newstest{year}/"
    "DAseg.newstest{year}.human.{pair}"
)


@pytest.mark.parametrize(("year", "pair"), [("2015", "cs-en"), ("2016", "tr-en")])
def test_rows_are_those_of_the_direct_assessments(year, pair, real, mirrored):
    """The labels' rows are said to be the DA files' rows. One row off, and labels and scores would not go together."""
    scores = np.array([float(line) for line in mirrored(DA.format(year=year, pair=pair)).read_text().split()])
    frame = real("sudoh-labels")
    source = languages.CODES[pair[:2]]
    part = frame.query(f"doc == 'newstest{year}' and src_lang == '{source}' and dimension == 'adequacy'")
    mean = part["score"].groupby(part["segment"].astype(int)).mean().to_numpy()
    assert len(mean) == len(scores)
    assert stats.spearmanr(mean, scores).statistic > 0.5
    assert abs(stats.spearmanr(np.roll(mean, 1), scores).statistic) < 0.2


def written(folder, name, text):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_agreed_labels_come_from_files_without_an_annotator(tmp_path):
    frame = direct.labels([written(tmp_path, "DAseg.newstest2016.adequacy.tr-en", "N\nS\n")])
    expected = [["tur", "agreed", "N", 1.0], ["tur", "agreed", "S", 7.0]]
    assert frame[["src_lang", "annotator", "label", "score"]].to_numpy().tolist() == expected


def test_texts_of_wmt17_are_those_of_the_loader_of_its_direct_assessments(real):
    texts = real("sudoh-translations").query("doc == 'newstest2017'")
    other = real("wmt17-da").astype(str).query("tgt_lang == 'eng'").drop_duplicates(["src_lang", "together", "segment"])
    other = other.assign(system=other["together"], z=other["score"].astype(float))
    ours, theirs = (
        sorted(zip(table["src_lang"], table["system"], table["hypothesis"], table["z"].round(9)))
        for table in (texts, other)
    )
    assert ours == theirs


def test_texts_scores_and_development_rows_go_together(tmp_path):
    texts = {"human": "0.5\n-1\n", "mt-system": "a\nb\n", "reference": "c\nd\n"}
    paths = [written(tmp_path, f"DAseg.newstest2015.{kind}.cs-en", text) for kind, text in texts.items()]
    frame = direct.translations([*paths, written(tmp_path, "dev.ids", "DAseg.newstest2015.cs-en:2\n")])
    expected = [["a", "c", 0.5, "train"], ["b", "d", -1.0, "dev"]]
    assert frame[["hypothesis", "reference", "z", "split"]].to_numpy().tolist() == expected


def wmt17(folder, rows, outputs):
    paths = [written(folder, "DA-seglevel.csv", "LP DATA SYSTEM SID HUMAN\n" + rows)]
    paths += [written(folder, f"newstest2017.{name}.cs-en", text) for name, text in outputs.items()]
    return [*paths, written(folder, "newstest2017-csen-ref.en", "r1\nr2\n")]


def test_wmt17_rows_find_their_texts_by_system_and_segment(tmp_path):
    rows = "en-cs newstest2017 x 1 0.1\ncs-en newstest2017 x+y 2 0.5\ncs-en newstest2017 y 1 -0.5\n"
    frame = direct.translations(wmt17(tmp_path, rows, {"x": "x1\nsame\n", "y": "y1\nsame\n"}))
    expected = [["1", "x+y", "same", "r2", 0.5, "test"], ["2", "y", "y1", "r1", -0.5, "test"]]
    assert frame[["segment", "system", "hypothesis", "reference", "z", "split"]].to_numpy().tolist() == expected


def archive(folder, rows, name="en-de-dev.tar.gz", header="index\toriginal\tscores"):
    return tarred(folder / name, {"en-de-dev/dev.ende.df.short.tsv": "\n".join([header, *rows])})


def test_mlqe_quotes_are_ordinary_characters_and_lists_keep_their_order(tmp_path):
    frame = direct.mlqe([archive(tmp_path, ['0\the said "no\t[20, 35.5]', "1\tx\t[1, 2, 3]"])])
    assert frame["score"].tolist() == [20.0, 35.5, 1.0, 2.0, 3.0]
    assert frame["annotator"].tolist() == ["place-1", "place-2", "place-1", "place-2", "place-3"]
    assert (frame["src_lang"].unique().tolist(), frame["doc"].unique().tolist()) == (["eng"], ["dev"])


@pytest.mark.slow
def test_mlqe_people_are_the_lines_of_the_release_s_own_z_scores(real):
    frame = real("mlqe-pe-people")
    items = ["src_lang", "tgt_lang", "doc", "segment"]
    assert len(frame.drop_duplicates(items)) == 14000
    assert sum(frame.attrs["excluded"].values()) < len(frame) / 1000
    assert not frame.duplicated([*items, "annotator"]).any()
    for _, own in frame.groupby(["src_lang", "tgt_lang", "annotator"]):
        slope, level = np.polyfit(own["score"], own["z"], 1)
        assert np.abs(own["z"] - slope * own["score"] - level).max() < 1e-6
        assert slope > 0
    whole = frame[frame["src_lang"] != "rus"].groupby(["src_lang", "tgt_lang", "annotator"]).size()
    assert (whole[whole == 2000].groupby(level=[0, 1]).size() == 3).all()


@given(st.integers(0, 10**6), st.integers(1, 12))
@settings(max_examples=40, deadline=None)
def test_points_are_given_back_to_the_people_who_made_them(seed, people):
    rng = np.random.default_rng(seed)
    who = np.concatenate([np.repeat(np.arange(people), 40), rng.integers(0, people, 200)])
    scores = np.round(rng.uniform(0, 100, len(who)))
    middle, spread = rng.uniform(30, 80, people), rng.uniform(5, 30, people)
    z = (scores - middle[who]) / spread[who]
    line = direct.on_lines(np.append(scores, 50.0), np.append(z, 77.7))
    assert line[-1] == -1
    pairs = set(zip(who, line[:-1], strict=True))
    assert len(pairs) == people == len(set(line[:-1]))
    sizes = np.bincount(line[:-1])
    assert (np.diff(sizes) <= 0).all()


def test_mlqe_people_are_told_apart_by_their_z_scores(tmp_path):
    header = "index\toriginal\ttranslation\tscores\tz_scores\tmodel_scores"
    rows = []
    for n in range(12):
        one, other = 3 * n, 90 - 5 * n
        given = [(one, (one - 50) / 10), (other, (other - 70) / 8)][:: -1 if n % 2 else 1]
        scores, z = (list(column) for column in zip(*given))
        rows.append(f"{n}\ta b\tc d e\t{scores}\t{z}\t-0.{n + 10}")
    frame = direct.mlqe_people([archive(tmp_path, rows, header=header)])
    own = frame.groupby("annotator")["score"].agg(set).tolist()
    assert sorted(own, key=max) == [{3 * n for n in range(12)}, {90 - 5 * n for n in range(12)}]


def test_time_tells_which_showing_of_a_sign_language_translation_was_the_second(tmp_path):
    row = "a,s,1,TGT,sgg,deu,50,d,False,1.0,2.0"
    later = row.replace("1.0,2.0", "3.0,4.0")
    frame = appraise.sign_language([written(tmp_path, "all.csv", f"{later}\n{row}\n")])
    assert frame["item_type"].tolist() == ["repeat", "system"]
