"""What loaders make of releases, and what judgements say as comparisons."""

import csv
import json
import tarfile
from collections import Counter
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evalkit import ROOT, DataError, data
from evalkit.data import compared, direct, indicmt, mtme, mturk, protocols, stand_ins
from evalkit.data.schemas import PREFERENCES, UNSTATED
from evalkit.human import mqm
from evalkit.papers import wmt
from tests.makers import as_judgements
from tests.workbooks import tarred

TUTORIAL = "a1,tutorial1,9,TGT,eng,jpn,0,ende-tutorial1,False,[],1.0,1.0"


def marked(tmp_path, *spans, tail=()):
    """Load the errors of one judgement, written as the files write them."""
    cell = "[" + ", ".join(spans) + "]"
    quoted = '"' + cell.replace('"', '""') + '"'
    path = tmp_path / "wave.csv"
    row = f"a1,S,8,TGT,eng,jpn,90,doc2,False,{quoted},5.0,5.5"
    path.write_text("\n".join([TUTORIAL, row, *tail]) + "\n", encoding="utf-8")
    return protocols.esa_spans([path])


def span(start, end, severity='"minor"'):
    return f'{{"start_i": {start}, "end_i": {end}, "severity": {severity}, "error_type": null}}'


def test_a_span_becomes_a_row_whose_end_is_excluded(tmp_path):
    frame = marked(
        tmp_path, span(0, 0), span(4, 9, '"major"'), span('"missing"', '"missing"'), span(11, 12, '"undecided"')
    )
    assert frame["start"].iloc[[0, 1, 3]].tolist() == [0, 4, 11]
    assert frame["end"].iloc[[0, 1, 3]].tolist() == [1, 10, 13]
    assert frame.loc[2, ["start", "end"]].isna().all()
    assert frame["error_type"].tolist() == ["other", "other", "omission", "other"]
    assert frame["severity"].tolist() == ["minor", "major", "minor", UNSTATED]
    assert frame["span"].tolist() == ["1", "2", "3", "4"]
    assert frame["side"].eq("target").all()
    assert "weight" not in frame


def test_a_replaced_submission_takes_its_spans_with_it_and_a_copy_keeps_its_own(tmp_path):
    again = '"[' + span(7, 8).replace('"', '""') + ']"'
    frame = marked(tmp_path, span(0, 1), span(3, 4), tail=[f"a1,S,8,TGT,eng,jpn,80,doc2,False,{again},5.0,9.5"])
    assert frame["start"].tolist() == [7]
    frame = marked(tmp_path, span(0, 1), tail=[f"a1,S,8,BAD,eng,jpn,80,doc2#bad,False,{again},7.0,9.5"])
    assert frame[["mark", "item_type", "span"]].to_numpy().tolist() == [["", "system", "1"], ["bad", "degraded", "1"]]


def tables(rng, judgements=400):
    """Draw judgements with minor and major errors whose costs are known: 3 and 11 points."""
    minor, major = rng.poisson(1, judgements), rng.poisson(0.5, judgements)
    score = 95 - 3 * minor - 11 * major + rng.normal(0, 2, judgements)
    frame = pd.DataFrame(
        {"src_lang": "eng", "tgt_lang": "ces", "system": "S", "doc": "d", "annotator": "a"}, range(judgements)
    )
    frame = frame.assign(segment=np.arange(judgements).astype(str), score=score)
    errors = frame.loc[frame.index.repeat(minor + major)]
    number = errors.groupby(level=0).cumcount()
    severity = np.where(number < minor[errors.index], "minor", "major")
    errors = errors.drop(columns="score").assign(span=number.astype(str), severity=severity, error_type="other")
    return frame, errors.reset_index(drop=True), minor, major


def test_scores_of_marks_correlate_as_scipy_says():
    judged, errors, minor, major = tables(np.random.default_rng(3))
    row = mqm.marks_against_scores(judged, errors, resamples=50).iloc[0]
    made = -(minor + 5 * major)
    assert row["kendall_b"] == pytest.approx(stats.kendalltau(made, judged["score"]).statistic, rel=1e-12)
    assert row["pearson"] == pytest.approx(stats.pearsonr(made, judged["score"]).statistic, rel=1e-12)
    assert row["low"] < row["kendall_b"] < row["high"]
    assert row["unmarked"] == np.mean(minor + major == 0)


def test_costs_of_errors_are_those_of_least_squares_and_come_back():
    judged, errors, minor, major = tables(np.random.default_rng(4))
    found = mqm.severity_costs(judged, errors, resamples=100).set_index("severity")
    looks = np.column_stack([np.ones(len(judged)), minor, major])
    expected = np.linalg.lstsq(looks, judged["score"], rcond=None)[0]
    assert found["each"].to_numpy() == pytest.approx(-expected[1:], rel=1e-9)
    assert found["errors"].tolist() == [minor.sum(), major.sum()]
    score = judged["score"].to_numpy()
    alone = score[minor + major == 0].mean() - score[(minor == 1) & (major == 0)].mean()
    assert found.at["minor", "alone"] == pytest.approx(alone, rel=1e-12)
    for name, true in (("minor", 3), ("major", 11)):
        assert found.at[name, "low"] < true < found.at[name, "high"]
    fewer = mqm.severity_costs(judged, errors[errors["severity"].eq("minor")], resamples=20).set_index("severity")
    assert fewer.loc["major", ["each", "low", "high", "alone"]].isna().all(), "nobody marked it, so it has no cost"
    assert (fewer.at["major", "errors"], np.isfinite(fewer.at["minor", "each"])) == (0, True)


# --- WMT's Mechanical Turk files: raw scores recovered, copies named after originals, official digits, broken files


HEADER = "HITId WorkerId Input.src Input.trg Input.item hit sys_id rid type sid score time"
ROWS = [  # a copy (rid 9) of document 5, annotated before it; mean 50, sd 20
    ("W1", "9", "REPEAT", "1", 0.5),
    ("W1", "9", "BAD_REF", "2", -2.5),
    ("W1", "9", "REF", "3", 2.5),
    ("W1", "5", "SYSTEM", "1", 1.0),
    ("W1", "5", "SYSTEM", "2", 1.5),
    ("W1", "5", "SYSTEM", "3", -0.05),
]
STATISTICS = '[1] "W1"\n[1] 50\n[1] 20\n[1] "W2"\n[1] 0\n[1] 0\n[1] "W3"\n[1] 1\n[1] NA\n'


@pytest.fixture
def pair_of_files(tmp_path):
    """Write the two files of a language pair; returns their paths."""

    def write(rows=ROWS, header=HEADER, statistics=STATISTICS):
        lines = [f"H1\t{w}\tlv\ten\tad\t1\tX.1\t{rid}\t{kind}\t{sid}\t{z}\t9.0" for w, rid, kind, sid, z in rows]
        ratings, means = tmp_path / "ad-lven-good-stnd.csv", tmp_path / "ad-lven-trk-mean-sd.txt"
        ratings.write_text("\n".join([header, *lines, ""]), encoding="utf-8")
        means.write_text(statistics, encoding="utf-8")
        return [ratings, means]

    return write


def test_scores_types_and_places_of_a_small_file(pair_of_files):
    frame = mturk.ratings(pair_of_files())
    assert frame["score"].tolist() == [60, 0, 100, 70, 80, 49]
    assert frame["item_type"].tolist() == ["repeat", "degraded", "reference", "system", "system", "system"]
    assert frame["copy"].tolist() == [True] * 3 + [False] * 3
    assert frame["position"].tolist() == list(range(6))
    assert frame["hit_seconds"].tolist() == [9.0] * 6
    assert frame["doc"].unique().tolist() == ["5"], "the copy bears its original's name"
    assert frame["hit"].unique().tolist() == ["H1/W1"]
    assert frame["src_lang"].unique().tolist() == ["liv"], "WMT22's lv is Livonian"
    people = mturk.annotators(pair_of_files()[1:]).set_index("annotator")
    assert people["sd"].tolist()[:2] == [20, 0]
    assert np.isnan(people.at["W3", "sd"]), "annotators without spread stay visible"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[1] "W1"\n[1] 50\n', "not triples of lines"),
        ('[1] "W1"\n[1] 50\n[1] -20\n', "line 1, column sd: -20 is outside"),
        ('[1] "W1"\n[1] fifty\n[1] 20\n', "line 1, column mean: 'fifty' is not a number"),
        (STATISTICS * 2, "line 10, columns annotator: the same as line 1"),
    ],
)
def test_broken_statistics_are_told_with_their_line(text, told, tmp_path):
    (tmp_path / "sd.txt").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=told):
        mturk.statistics(tmp_path / "sd.txt")


def test_real_raw_scores_standardise_to_the_published_z(real):
    frame = real("wmt21-mturk")
    assert (len(frame), frame["src_lang"].nunique()) == (115_059, 6)
    by_worker = frame.groupby(["src_lang", "annotator"])["score"]
    z = (frame["score"] - by_worker.transform("mean")) / by_worker.transform("std", ddof=1)
    assert (z - frame["z"]).abs().max() < 5e-5  # R printed means and deviations with seven digits


def test_the_simulation_has_its_own_ranking():
    drawn, table = stand_ins.stand_in("wmt21-mturk"), stand_ins.stand_in("wmt21-mturk-ranking")
    assert wmt.compare_with_official(drawn, table)["equal"].all()


# --- Label files, lists of assessments and sign language scores: what the loaders read and keep


def test_rows_of_labels_are_those_of_the_direct_assessments(real, mirrored):
    """One row off, and labels and scores would not go together."""
    released = mirrored("MIR-MU/regemt/*/data_dir/DAseg-wmt-newstest2015/DAseg.newstest2015.human.cs-en")
    scores = np.array([float(line) for line in released.read_text().split()])
    part = real("sudoh-labels").query("doc == 'newstest2015' and src_lang == 'ces' and dimension == 'adequacy'")
    mean = part["score"].groupby(part["segment"].astype(int)).mean().to_numpy()
    assert stats.spearmanr(mean, scores).statistic > 0.5
    assert abs(stats.spearmanr(np.roll(mean, 1), scores).statistic) < 0.2


def written(folder, name, text):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


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


# --- IndicMT-Eval and MQM ratings: what the loaders make of them, what they mend, and what they refuse


ERRORS = [f"Error{n}_{part}" for n in range(1, 6) for part in ("Type", "Severity")]
ROW = {"ID (ignore_column)": "1", "Source": "One two.", "Reference": "r", "Translation": "t"}
ROW |= dict.fromkeys(ERRORS, "Default")
ROW |= {"Computed_scores": "25", "Human_scores": "24", "Full_scores": "25", "model": "NLLB"}


def row(**changes):
    return ROW | changes


def sheet(folder, *rows, name="Gujarati.csv"):
    path = folder / name
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


def test_a_stray_mark_is_read_over_and_a_blank_own_score_is_missing(tmp_path):
    path = sheet(tmp_path, row(Human_scores="`19"), row(Source="B", Human_scores=""), row(Source="C"))
    frame = indicmt.ratings([path])
    assert frame["own_score"].tolist()[0] == 19.0
    assert pd.isna(frame["own_score"][1])
    assert frame.attrs["corrected"] == {"blank own scores": 1, "own scores with a stray mark": 1}


@pytest.mark.parametrize(
    ("load", "rows", "name", "told"),
    [
        (indicmt.ratings, [row(Human_scores="19x")], "Gujarati", "Gujarati.csv, line 2, column own_score: '19x'"),
        (indicmt.ratings, [row(Translation="")], "Gujarati", "line 2, column hypothesis: is empty"),
        (indicmt.spans, [row(Error2_Type="Typo")], "Gujarati", "line 2, column error_type: 'typo'"),
        (indicmt.ratings, [row(), row()], "Gujarati", "the same as line 2"),
        (indicmt.ratings, [{"Source": "a", "model": "b"}], "Hindi", "Hindi.csv lacks the columns Reference, "),
    ],
)
def test_a_bad_cell_is_refused_with_its_place(tmp_path, load, rows, name, told):
    with pytest.raises(DataError, match=told):
        load([sheet(tmp_path, *rows, name=f"{name}.csv")])


def test_negative_totals_are_kept_and_half_stated_errors_are_errors(tmp_path):
    path = sheet(
        tmp_path,
        row(Error1_Type="Non-translation", Error1_Severity="High", Computed_scores="-75"),
        row(Source="B", Error1_Type="Other"),
        row(Source="C", Error3_Severity="Low"),
    )
    assert indicmt.ratings([path])["score"].tolist() == [-75.0, 25.0, 25.0]
    spans = indicmt.spans([path]).astype("str")
    expected = [["1", "non-translation", "high"], ["1", "other", UNSTATED], ["3", UNSTATED, "low"]]
    assert spans[["span", "error_type", "severity"]].to_numpy().tolist() == expected


# MQM ratings in mt-metrics-eval's layout


def rating(folder, *cells, name="zh-en.mqm.rater1.seg.rating"):
    (folder / "zh-en.docs").write_text("".join(f"news\tdoc{n}\n" for n in range(len(cells))))
    (folder / name).write_text("".join(f"S\t{cell}\n" for cell in cells))
    return [folder / "zh-en.docs", folder / name]


ERROR = {"start": 1, "end": 4, "category": "Non-translation!", "severity": "major", "score": 25}
ERROR |= {"is_source_error": False}


def test_judgements_add_up_their_errors_and_what_nobody_judged_has_no_row(tmp_path):
    two = json.dumps({"errors": [ERROR, ERROR | {"score": 0.1, "is_source_error": True}]})
    paths = rating(tmp_path, two, "None", '{"errors": []}')
    assert mtme.mqm_ratings(paths)[["segment", "score"]].to_numpy().tolist() == [["1", -25.1], ["3", 0.0]]
    ten = json.dumps({"errors": [ERROR | {"score": 0.1}] * 10})
    assert mtme.mqm_ratings(rating(tmp_path, ten))["score"].tolist() == [-1.0]
    rating(tmp_path, two, "None", '{"errors": []}')
    spans = mtme.mqm_spans(paths).astype({"side": "str", "error_type": "str"})
    assert spans["side"].tolist() == ["target", "source"]
    assert set(spans["error_type"]) == {"non-translation"}


def test_a_rater_who_marked_nothing_judged_everything_right(tmp_path, monkeypatch):
    monkeypatch.setenv("EVALKIT_SALT_FILE", str(tmp_path / "salt"))
    for name in ("documents", "human-scores"):
        (tmp_path / name).mkdir()
    docs, path = rating(tmp_path, '{"errors": []}', "None")
    docs.rename(tmp_path / "documents" / docs.name)
    judged, marked = data.open_campaign(path.rename(tmp_path / "human-scores" / path.name))
    assert (judged["score"].tolist(), marked) == ([0.0], None)


TWICE = json.dumps({"errors": [ERROR]}).replace('"score": 25', '"score": 25, "score": 1')


def with_error(**changed):
    return json.dumps({"errors": [ERROR, ERROR | changed]})


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        (with_error(score=-5), "line 1, column weight: -5 is outside 0-inf"),  # it came out as +5, and true as -1
        (with_error(score=True), "column weight: True is not a number"),
        (with_error(score=float("nan")), "column weight: is empty"),
        (with_error(score=float("inf")), "column weight: inf is not a number"),
        (with_error(score=[5]), "column weight: .* is not a number"),
        (with_error(start=True), "column start: True is not a number"),
        (with_error(end="four"), "column end: 'four' is not a number"),
        (with_error(is_source_error="no"), "column side: is empty"),
        (with_error(severity=None), "column severity: is empty"),
        (TWICE, "no list of errors in JSON"),
        ("[1", "line 1: '.1' is no list of errors"),
        ("{}", "line 1: '{}' is no list of errors"),
        ('{"errors": [5]}', "is no list of errors"),
        ('{"errors": [{"start": 1}]}', "column weight: is empty"),
        (with_error(start=5), "ends before it starts"),
        (with_error(start=-1), "outside 0-inf"),
    ],
)
def test_a_broken_judgement_is_refused_and_never_read_as_a_number(tmp_path, cell, told):
    with pytest.raises(DataError, match=told):
        mtme.mqm_spans(rating(tmp_path, cell))


def test_a_file_that_is_cut_short_or_named_otherwise_is_refused(tmp_path):
    with pytest.raises(DataError, match="not named"):
        mtme.mqm_ratings(rating(tmp_path, "None", name="r.txt"))
    paths = rating(tmp_path, "None", "None")
    paths[1].write_text("S\tNone\n")
    with pytest.raises(DataError, match="S has 1 lines for 2 segments"):
        mtme.mqm_ratings(paths)


# --- One set of texts under several protocols: released scores come out of the exports, and collections fit together


FOLDER = "wmt-conference/ErrorSpanAnnotation/*/data/campaign-ruction-rc5"


@pytest.fixture
def folder(mirrored):
    [found] = mirrored("MANIFEST.tsv").parent.glob(FOLDER)
    return found


@pytest.mark.parametrize("protocol", protocols.EXPORTS)
def test_released_scores_come_out_of_the_exports_in_every_row(protocol, real, folder):
    judged = real("wmt23-protocols")
    own = judged[(judged["protocol"] == protocol) & (judged["item_type"] != "degraded")]
    rows = [line.split("\t") for line in (folder / f"en-de.{protocol}.seg.score").read_text().splitlines()]
    lines = len(rows) // len({system for system, _ in rows})
    told = {(s, str(n % lines + 1)): float(score) for n, (s, score) in enumerate(rows) if score != "None"}
    found = {(row.system, row.segment): row.score for row in own.itertuples()}
    assert len(found) == len(own)
    assert found == pytest.approx(told, abs=1e-9)
    released = real("wmt23-protocols-released")
    released = released[released["protocol"] == protocol]
    assert {(row.system, row.segment): row.score for row in released.itertuples()} == told


def test_marked_errors_are_those_of_the_judgements(real):
    judged, marked = real("wmt23-protocols"), real("wmt23-protocols-spans")
    keys = ["protocol", "system", "segment", "hit", "item_type", "mark", "started"]
    counts = marked.groupby(keys).size().rename("marked").reset_index()
    both = judged.merge(counts, on=keys, how="left").fillna({"marked": 0})
    assert len(both) == len(judged)
    assert (both["marked"] == both["errors"]).all()
    assert both["marked"].sum() == len(marked)
    typed = marked[marked["protocol"] == "MQM-1"]["error_type"]
    assert "accuracy/mistranslation" in set(typed)


def test_marks_that_a_model_suggested_are_told_from_those_that_people_drew(real, folder):
    marked = real("wmt23-protocols-spans")
    shares = marked.groupby("protocol")["suggested"].mean()
    assert (shares.drop(["ESAAI-1", "ESAAI-2", "ESAAI-IAA"]) == 0).all()
    latest = {}
    for row in csv.reader((folder / "240520rc6GEMBA.scores.csv").read_text(encoding="utf-8").splitlines()):
        filler = "duplicate" in row[7] and row[3] == "TGT"  # degraded copies that fill a task check attention as well
        if "tutorial" not in row[1] and not filler:
            latest[row[0], row[2]] = max(latest.get((row[0], row[2]), (0.0, "")), (float(row[11]), row[9]))
    raw = [mark for _, cell in latest.values() for mark in json.loads(cell)]
    own = marked[marked["protocol"] == "ESAAI-2"]
    assert (len(own), own["suggested"].sum()) == (len(raw), sum("error_type" not in mark for mark in raw))


# Comparisons: their rules, what judgements say as comparisons, and the four data sets that hold some.

PAIRS = ["system_a", "system_b", "preference"]
COMMON = {"src_lang": "eng", "tgt_lang": "deu", "doc": "d", "segment": "1", "annotator": "p"}


def comparison(a="A", b="B", preference="a", **others):
    return COMMON | {"system_a": a, "system_b": b, "preference": preference} | others


def rated(scores, **others):
    """One person's scores of one segment: system -> score."""
    common = COMMON | {"item_type": "system"} | others
    return pd.DataFrame([common | {"system": name, "score": float(score)} for name, score in scores.items()])


def test_sums_that_differ_by_rounding_alone_tie():
    found = compared.of_scores(rated({"A": -(0.1 + 0.2), "B": -0.3}))
    assert found["preference"].tolist() == ["tie"]


def test_only_what_one_person_judged_on_one_screen_of_one_question_is_compared():
    first, second = rated({"A": 1, "B": 2}, hit="1"), rated({"C": 3}, hit="2")
    whole = pd.concat([first, second, rated({"D": 9, "E": 8}, annotator="q", hit="1")])
    found = compared.of_scores(whole)
    assert [*zip(found["system_a"], found["system_b"])] == [("A", "B"), ("D", "E")]
    assert found.attrs["alone"] == 1
    assert len(compared.of_scores(whole, together=())) == 3 + 1


def test_repeats_and_degraded_items_are_no_comparisons_unless_asked_for():
    others = [rated({"B": 0}, item_type="degraded"), rated({"A": 3}, item_type="repeat")]
    assert len(compared.of_scores(pd.concat([rated({"A": 1, "B": 2}), *others]))) == 1
    with pytest.raises(DataError, match="No two translations of one segment were judged by one person"):
        compared.of_scores(rated({"A": 1}))


SCORED = st.tuples(st.sampled_from("pqr"), st.sampled_from("123"), st.sampled_from("ABCDE"), st.integers(0, 5))
CHOSEN = st.tuples(
    st.sampled_from("pq"),
    st.sampled_from("12"),
    st.sampled_from(["AB", "AC", "BC", "CB"]),
    st.sampled_from(PREFERENCES),
)
KEY_COMPARED = ["annotator", "segment", *PAIRS]


@given(st.lists(SCORED, min_size=1, max_size=40, unique_by=lambda row: row[:3]), st.integers(0, 2))
def test_pairs_are_those_that_two_loops_find(rows, tie):
    table = pd.concat(rated({name: score}, annotator=who, segment=where) for who, where, name, score in rows)
    expected = set()
    for one, two in combinations(rows, 2):
        if one[:2] == two[:2]:
            lead = one[3] - two[3]
            expected.add((*one[:3], two[2], "tie" if abs(lead) <= tie else "a" if lead > 0 else "b"))
    if not expected:
        with pytest.raises(DataError):
            compared.of_scores(table, tie=tie)
        return
    found = compared.of_scores(table, tie=tie)
    assert len(found) == len(expected)
    assert set(found[KEY_COMPARED].itertuples(index=False, name=None)) == expected


@given(st.lists(CHOSEN, min_size=1, max_size=12, unique_by=lambda row: (row[0], row[1], *sorted(row[2]))))
def test_comparisons_become_judgements_and_the_same_comparisons_again(rows):
    table = pd.DataFrame(comparison(*pair, answer, annotator=who, segment=where) for who, where, pair, answer in rows)
    judged = as_judgements(table)
    assert judged.groupby("hit")["score"].sum().eq(1).all()
    again = compared.of_scores(judged)
    assert again[KEY_COMPARED].to_numpy().tolist() == table[KEY_COMPARED].to_numpy().tolist()


def test_the_campaign_of_the_demonstration_is_the_released_one(here):
    here("wmt23-side-by-side")
    judged = data.load("wmt23-side-by-side")
    again = judged["system"].eq("GPT4-5shot") & judged["against"].eq("refA")  # seen on a second screen
    columns = ["src_lang", "tgt_lang", "system", "doc", "segment", "annotator", "score", "item_type"]
    made = judged.assign(item_type=judged["item_type"].mask(again, "repeat"))[columns].to_csv(index=False)
    assert made == (ROOT / "data" / "demo" / "wmt23.csv").read_text(encoding="utf-8")


def test_screens_of_two_systems_are_those_that_errors_of_the_source_show(mirrored):
    name = "sxs_mqm_generalMT2023_ende.3ratingsPerSegment.tsv"
    with tarfile.open(mirrored(f"google/wmt-mqm-human-evaluation/*/generalMT2023/ende/{name}.tar.gz")) as archive:
        [text] = [archive.extractfile(one).read().decode() for one in archive if one.name.endswith(name)]
    sides, moments = {}, {}
    for row in (line.split("\t") for line in text.split("\n")[1:] if line):
        content = json.loads(row[9])
        sides.setdefault(row[0], Counter())[content.get("side", 0)] += 1
        if row[7] == "Source issue":
            moments.setdefault((row[3], row[4], str(content["timestamp"])), set()).add(row[0])
    left = {one for one, count in sides.items() if count[1] > count[2]}
    shown = {tuple(sorted(names, key=lambda one: one not in left)) for names in moments.values() if len(names) == 2}
    assert shown == set(protocols.SCREENS)
    assert {one for one, _ in protocols.SCREENS} == left
    assert {one for screen in protocols.SCREENS for one in screen} == {*sides}
