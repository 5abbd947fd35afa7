"""Label files, lists of assessments and sign language scores: what the loaders read, keep and refuse."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evalkit import DataError
from evalkit.data import assessed, labels, mlqe, slt
from tests.workbooks import tarred

SUDOH = "004"


def test_the_order_and_the_letters_are_the_papers(paper):
    lines = paper(SUDOH).splitlines()
    for dimension, first, rows in (("fluency", "Incomprehensible (F)", 5), ("adequacy", "Incomprehensible (N)", 7)):
        start = next(n for n, line in enumerate(lines) if line.startswith(first))
        printed = [line.split("\t")[0] for line in lines[start : start + rows]]
        assert printed == [f"{name} ({letter})" for letter, name in labels.LABELS[dimension].items()]


DA = (
    "MIR-MU/regemt/e8d6e233bc8b9b4fdbe498fd54c091897484bbcf/data_dir/DAseg-wmt-newstest{year}/"
    "DAseg.newstest{year}.human.{pair}"
)


@pytest.mark.parametrize(("year", "pair"), [("2015", "cs-en"), ("2016", "tr-en")])
def test_rows_are_those_of_the_direct_assessments(year, pair, real, mirrored):
    """The labels' rows are said to be the DA files' rows. One row off, and labels and scores would not go together."""
    scores = np.array([float(line) for line in mirrored(DA.format(year=year, pair=pair)).read_text().split()])
    frame = real("sudoh-labels")
    source = labels.LANGUAGES[pair[:2]]
    part = frame.query(f"doc == 'newstest{year}' and src_lang == '{source}' and dimension == 'adequacy'")
    mean = part["score"].groupby(part["segment"].astype(int)).mean().to_numpy()
    assert len(mean) == len(scores)
    assert stats.spearmanr(mean, scores).statistic > 0.5
    assert abs(stats.spearmanr(np.roll(mean, 1), scores).statistic) < 0.2


def written(folder, name, text):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"2015.fluency_A.cs-en": "S\nX\n"}, "line 2: 'X' is no label of fluency"),
        ({"2015.fluency_A.cs-en": "S\nA\nN\n"}, "line 3: 'N' .* one of adequacy"),
        ({"2015.fluency.cs-en": "S\n"}, "expected a name"),
        ({".fluency_A.cs-en": "S\n"}, "year"),
        ({"2015.fluency_A.cs-en": "S\nS\nS\n", "2015.fluency_B.cs-en": "S\nS\n"}, "has 2 lines"),
        (dict.fromkeys(["2015.fluency_A.cs-en", "2015.adequacy_A.cs-en"], "S\nA\nB\n" * 30), "in every line"),
    ],
)
def test_a_label_file_that_breaks_a_rule_is_refused_with_its_line(tmp_path, files, told):
    with pytest.raises(DataError, match=told):
        labels.ratings([written(tmp_path, f"DAseg.newstest{name}", text) for name, text in files.items()])


def test_agreed_labels_come_from_files_without_an_annotator(tmp_path):
    frame = labels.agreed([written(tmp_path, "DAseg.newstest2016.adequacy.tr-en", "N\nS\n")])
    expected = [["tur", "agreed", "N", 1.0], ["tur", "agreed", "S", 7.0]]
    assert frame[["src_lang", "annotator", "label", "score"]].to_numpy().tolist() == expected
    with pytest.raises(DataError, match="holds the labels of annotator B"):
        labels.agreed([written(tmp_path, "DAseg.newstest2016.adequacy_B.tr-en", "N\n")])


def test_texts_of_wmt17_are_those_of_the_loader_of_its_direct_assessments(real):
    texts = real("sudoh-translations").query("doc == 'newstest2017'")
    other = real("wmt17-da").astype(str).query("tgt_lang == 'eng'").drop_duplicates(["src_lang", "together", "segment"])
    other = other.assign(system=other["together"], z=other["score"].astype(float))
    ours, theirs = (
        sorted(zip(table["src_lang"], table["system"], table["hypothesis"], table["z"].round(9)))
        for table in (texts, other)
    )
    assert ours == theirs


ASSESSED = {"human": "0.5\n-1\n", "mt-system": "a\nb\n", "reference": "c\nd\n"}


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"reference": "c\n"}, "from line 2 on"),
        ({"human": "0.5\nx\n"}, "line 2: 'x'"),
        ({"mt-system": ""}, "mt-system.cs-en"),
        ({"dev.ids": "DAseg.newstest2015.cs-en:3\n"}, "line 1: 'DAseg.newstest2015.cs-en:3'"),
        ({"dev.ids": "DAseg.newstest2015.cs-en:1\n" * 2}, "line 2: .* stands on line 1"),
    ],
)
def test_texts_scores_and_development_rows_must_go_together(tmp_path, changed, told):
    def load(contents):
        names = {kind: kind if kind == "dev.ids" else f"DAseg.newstest2015.{kind}.cs-en" for kind in contents}
        return assessed.translations([written(tmp_path, names[kind], text) for kind, text in contents.items() if text])

    sound = {"dev.ids": "DAseg.newstest2015.cs-en:2\n"} | ASSESSED
    assert load(sound)["split"].tolist() == ["train", "dev"]
    with pytest.raises(DataError, match=told):
        load(sound | changed)


def wmt17(folder, rows, outputs):
    paths = [written(folder, "DA-seglevel.csv", "LP DATA SYSTEM SID HUMAN\n" + rows)]
    paths += [written(folder, f"newstest2017.{name}.cs-en", text) for name, text in outputs.items()]
    return [*paths, written(folder, "newstest2017-csen-ref.en", "r1\nr2\n")]


def test_wmt17_rows_find_their_texts_by_system_and_segment(tmp_path):
    rows = "en-cs newstest2017 x 1 0.1\ncs-en newstest2017 x+y 2 0.5\ncs-en newstest2017 y 1 -0.5\n"
    frame = assessed.translations(wmt17(tmp_path, rows, {"x": "x1\nsame\n", "y": "y1\nsame\n"}))
    expected = [["1", "x+y", "same", "r2", 0.5, "test"], ["2", "y", "y1", "r1", -0.5, "test"]]
    assert frame[["segment", "system", "hypothesis", "reference", "z", "split"]].to_numpy().tolist() == expected


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("x+y 1", "line 2: .*texts differ"),
        ("z 1", "line 2: no output of z"),
        ("x 3", "line 2: segment 3"),
    ],
)
def test_wmt17_rows_without_their_texts_are_refused(tmp_path, row, told):
    paths = wmt17(tmp_path, f"cs-en newstest2017 {row} 0.1\n", {"x": "x1\nx2\n", "y": "y1\ny2\n"})
    with pytest.raises(DataError, match=told):
        assessed.translations(paths)


def archive(folder, rows, name="en-de-dev.tar.gz", header="index\toriginal\tscores"):
    return tarred(folder / name, {"en-de-dev/dev.ende.df.short.tsv": "\n".join([header, *rows])})


def test_mlqe_quotes_are_ordinary_characters_and_lists_keep_their_order(tmp_path):
    frame = mlqe.ratings([archive(tmp_path, ['0\the said "no\t[20, 35.5]', "1\tx\t[1, 2, 3]"])])
    assert frame["score"].tolist() == [20.0, 35.5, 1.0, 2.0, 3.0]
    assert frame["annotator"].tolist() == ["place-1", "place-2", "place-1", "place-2", "place-3"]
    assert (frame["src_lang"].unique().tolist(), frame["doc"].unique().tolist()) == (["eng"], ["dev"])


@pytest.mark.parametrize(
    ("rows", "form", "told"),
    [
        (["0\tx\t[1, two]"], {}, "line 2, column scores"),
        (["0\tx\t[1]", "1\tx"], {}, "line 3, column scores: 2 cells"),
        (["0\tx\t[104]"], {}, "104 is outside 0-100"),
        (["0\tx\t[1, true]"], {}, "line 2, column scores: True"),
        (['0\tx\t["1"]'], {}, "line 2, column scores: '1'"),
        (["0\tx\t[1]"], {"name": "en-de.tar.gz"}, "expected a name"),
        (["0\tx\t[1]"], {"header": "index\toriginal\tmarks"}, "no column scores"),
    ],
)
def test_mlqe_rows_that_cannot_be_read_are_told_with_their_line(tmp_path, rows, form, told):
    with pytest.raises(DataError, match=told):
        mlqe.ratings([archive(tmp_path, rows, **form)])


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
    line = mlqe.on_lines(np.append(scores, 50.0), np.append(z, 77.7))
    assert line[-1] == -1
    pairs = set(zip(who, line[:-1], strict=True))
    assert len(pairs) == people == len(set(line[:-1]))
    sizes = np.bincount(line[:-1])
    assert (np.diff(sizes) <= 0).all()


def test_mlqe_people_need_the_z_scores(tmp_path):
    header = "index\toriginal\ttranslation\tscores\tz_scores\tmodel_scores"
    rows = []
    for n in range(12):
        one, other = 3 * n, 90 - 5 * n
        given = [(one, (one - 50) / 10), (other, (other - 70) / 8)][:: -1 if n % 2 else 1]
        scores, z = (list(column) for column in zip(*given))
        rows.append(f"{n}\ta b\tc d e\t{scores}\t{z}\t-0.{n + 10}")
    frame = mlqe.people([archive(tmp_path, rows, header=header)])
    own = frame.groupby("annotator")["score"].agg(set).tolist()
    assert sorted(own, key=max) == [{3 * n for n in range(12)}, {90 - 5 * n for n in range(12)}]
    with pytest.raises(DataError, match="has no column z_scores"):
        mlqe.people([archive(tmp_path, ["0\tx\ty\t[1]"], header="index\toriginal\ttranslation\tscores")])


def test_sign_language_rows_that_break_a_rule_are_told(tmp_path):
    row = "a,s,1,TGT,sgg,deu,50,d,False,1.0,2.0"
    later = row.replace("1.0,2.0", "3.0,4.0")
    frame = slt.ratings([written(tmp_path, "all.csv", f"{later}\n{row}\n")])
    assert frame["item_type"].tolist() == ["repeat", "system"], "time decides which showing was the second"
    with pytest.raises(DataError, match="line 2: cell 9"):
        slt.ratings([written(tmp_path, "bad.csv", f"{row}\n{row.replace('False', 'maybe')}\n")])
