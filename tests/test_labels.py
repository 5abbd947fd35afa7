"""Label files, lists of assessments and sign language scores: what the loaders read, keep and refuse."""

import io
import tarfile

import numpy as np
import pytest
from scipy import stats

from evalkit import DataError
from evalkit.data import labels, mlqe, slt

SUDOH = "004"


def test_every_item_of_wmt15_and_16_has_its_three_labels_in_both_dimensions(real):
    frame = real("sudoh-labels")
    items = frame.groupby(["dimension", "src_lang", "doc", "segment"])["annotator"].agg("".join)
    assert set(items) == {"ABC"}
    assert items.groupby("dimension").size().to_dict() == {"adequacy": 5360, "fluency": 5360}
    assert frame.groupby("doc")["src_lang"].nunique().to_dict() == {"newstest2015": 4, "newstest2016": 6}


def test_letters_stand_for_their_places_and_f_means_two_things(real):
    frame = real("sudoh-labels")
    place = frame.drop_duplicates(["dimension", "label"]).set_index(["dimension", "label"])["score"]
    assert place["fluency"].sort_values().index.tolist() == list("FDBAS")
    assert place["adequacy"].sort_values().index.tolist() == list("NOCFBAS")
    assert place["fluency", "F"] == 1
    assert place["adequacy", "F"] == 4


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


@pytest.mark.parametrize(("year", "pair"), [("2015", "cs-en"), ("2015", "ru-en"), ("2016", "fi-en"), ("2016", "tr-en")])
def test_rows_are_those_of_the_direct_assessments(year, pair, real, mirrored):
    """The labels' rows are said to be the DA files' rows. One row off, and labels and scores would not go together."""
    scores = np.array([float(line) for line in mirrored(DA.format(year=year, pair=pair)).read_text().split()])
    frame = real("sudoh-labels")
    source = labels.LANGUAGES[pair[:2]]
    part = frame[
        (frame["doc"] == f"newstest{year}") & (frame["src_lang"] == source) & (frame["dimension"] == "adequacy")
    ]
    mean = part.assign(row=part["segment"].astype(int)).groupby("row")["score"].mean().to_numpy()
    assert len(mean) == len(scores)
    assert stats.spearmanr(mean, scores).statistic > 0.5
    assert abs(stats.spearmanr(np.roll(mean, 1), scores).statistic) < 0.2


def written(folder, name, text):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(("name", "text", "told"), [
    ("DAseg.newstest2015.fluency_A.cs-en", "S\nX\n", "line 2: 'X' is no label of fluency"),
    ("DAseg.newstest2015.fluency_A.cs-en", "S\n\nA\n", "line 2: '' is no label"),
    ("DAseg.newstest2015.adequacy_A.cs-en", "D\n", "line 1: 'D' is no label of adequacy"),
    ("DAseg.newstest2015.fluency.cs-en", "S\n", "expected a name"),
    ("DAseg.newstest2015.fluency_A.xx-en", "S\n", "expected a name"),
])  # fmt: skip
def test_a_label_file_that_breaks_a_rule_is_refused_with_its_line(tmp_path, name, text, told):
    with pytest.raises(DataError, match=told):
        labels.ratings([written(tmp_path, name, text)])


def test_label_files_of_unequal_length_are_refused(tmp_path):
    files = [written(tmp_path, f"d.newstest2015.fluency_{who}.cs-en", "S\n" * n) for who, n in (("A", 3), ("B", 2))]
    with pytest.raises(DataError, match="has 2 lines; another file of these translations has 3"):
        labels.ratings(files)


def test_mlqe_has_seven_pairs_of_nine_thousand_segments_and_three_to_six_scores(real):
    frame = real("mlqe-pe")
    sizes = frame.drop_duplicates(["src_lang", "tgt_lang", "doc", "segment"]).groupby(["src_lang", "tgt_lang"]).size()
    assert set(sizes) == {9000}
    assert len(sizes) == 7
    assert set(frame.groupby(["src_lang", "tgt_lang", "doc", "segment"]).size()) <= {3, 4, 5, 6}
    assert frame["score"].between(0, 100).all()


def archive(folder, rows, name="en-de-dev.tar.gz", header="index\toriginal\tscores"):
    content = "\n".join([header, *rows]).encode()
    with tarfile.open(folder / name, "w:gz") as tar:
        info = tarfile.TarInfo("en-de-dev/dev.ende.df.short.tsv")
        info.size = len(content)
        tar.addfile(info, io.BytesIO(content))
    return folder / name


def test_mlqe_quotes_are_ordinary_characters_and_lists_keep_their_order(tmp_path):
    frame = mlqe.ratings([archive(tmp_path, ['0\the said "no\t[20, 35.5]', "1\tx\t[1, 2, 3]"])])
    assert frame["score"].tolist() == [20.0, 35.5, 1.0, 2.0, 3.0]
    assert frame["annotator"].tolist() == ["place-1", "place-2", "place-1", "place-2", "place-3"]
    assert (frame["src_lang"].unique().tolist(), frame["doc"].unique().tolist()) == (["eng"], ["dev"])


@pytest.mark.parametrize(("rows", "told"), [
    (["0\tx\t[1, two]"], "line 2, column scores"),
    (["0\tx\t[1]", "1\tx"], "line 3, column scores: 2 cells where 3"),
    (["0\tx\t7"], "line 2, column scores"),
    (["0\tx\t[104]"], "104 is outside 0-100"),
])  # fmt: skip
def test_mlqe_rows_that_cannot_be_read_are_told_with_their_line(tmp_path, rows, told):
    with pytest.raises(DataError, match=told):
        mlqe.ratings([archive(tmp_path, rows)])


def test_mlqe_files_of_another_name_or_shape_are_refused(tmp_path):
    with pytest.raises(DataError, match="expected a name"):
        mlqe.ratings([archive(tmp_path, ["0\tx\t[1]"], name="en-de.tar.gz")])
    with pytest.raises(DataError, match="has no column scores"):
        mlqe.ratings([archive(tmp_path, ["0\tx\t[1]"], header="index\toriginal\tmarks")])


def test_sign_language_scores_leave_documents_out_and_call_second_showings_repeats(real):
    frame = real("wmt-slt22")
    assert frame.attrs["left_out"] == {"document scores": 1191}
    assert len(frame) == 14491 - 1191
    once = frame[frame["item_type"] != "repeat"].groupby(["system", "doc", "segment"])["annotator"].nunique()
    assert set(once) == {3, 4}
    assert frame["item_type"].value_counts().to_dict()["repeat"] == 640
    assert frame.loc[frame["item_type"] == "reference", "system"].str.startswith("translator").all()


def test_sign_language_rows_that_break_a_rule_are_told(tmp_path):
    row = "a,s,1,TGT,sgg,deu,50,d,False,1.0,2.0"
    later = row.replace("1.0,2.0", "3.0,4.0")
    frame = slt.ratings([written(tmp_path, "all.csv", f"{later}\n{row}\n")])
    assert frame["item_type"].tolist() == ["repeat", "system"], "time decides which showing was the second"
    with pytest.raises(DataError, match="line 2: cell 9"):
        slt.ratings([written(tmp_path, "bad.csv", f"{row}\n{row.replace('False', 'maybe')}\n")])
