"""Automatic scores that an import reads: columns of people's file, tables, mt-metrics-eval's layout; misfits."""

import numpy as np
import pandas as pd
import pytest

from evalkit import DataError, data
from evalkit.data import importing

SYSTEMS = ("A", "B")


@pytest.fixture(autouse=True)
def own_folder(own_salt, tmp_path, monkeypatch):
    """Keep the salt of the person who runs the tests out of them, and results in a folder of their own."""
    monkeypatch.chdir(tmp_path)


def people(segments=6):
    """Judgements of two systems by two people; segments are numbers in one of two documents."""
    rng = np.random.default_rng(1)
    rows = [
        ("eng", "deu", system, "d1" if segment <= 3 else "d2", str(segment), person, int(rng.integers(20, 90)))
        for system in SYSTEMS
        for segment in range(1, segments + 1)
        for person in ("Ann", "Bob")
    ]
    return pd.DataFrame(
        rows, columns=["src_lang", "tgt_lang", "system", "doc", "segment", "annotator", "score"]
    ).assign(item_type="system")


def scores_of(frame):
    """A score of each item, without chance: what a metric would give it."""
    return frame["system"].map({"A": 0.5, "B": 0.25}) + frame["segment"].astype(int) / 100


def imported(frame, **options):
    frame.to_csv("my.csv", index=False)
    report, _ = importing.import_campaign(["my.csv"], "my.parquet", keep_names=True, **options)
    found = data.open_judges("my.parquet")
    return report, found


def held(found, name):
    """Scores of one metric by (system, segment)."""
    own = found[(found["annotator"] == name) & (found["level"] == "segment")]
    assert not own.duplicated(["system", "doc", "segment"]).any()
    return own.set_index(["system", "segment"])["score"].to_dict()


def expected():
    items = people().drop_duplicates(["system", "segment"])
    return dict(zip(zip(items["system"], items["segment"]), scores_of(items)))


def test_columns_are_metrics_an_item_a_score():
    frame = people()
    frame["wmt22-comet"], frame["ter"], frame["own"] = scores_of(frame), 1 - scores_of(frame), scores_of(frame)
    report, found = imported(frame, metric_columns=["COMET=wmt22-comet", "ter", "own-"])
    ratings, _ = data.open_campaign("my.parquet")
    assert sorted(ratings["annotator"].unique()) == ["Ann", "Bob"]
    assert ratings["score"].sum() == frame["score"].sum()
    assert held(found, "COMET") == pytest.approx(expected())
    better = found.groupby("annotator")["better"].first().to_dict()
    assert better == {"COMET": "higher", "ter": "lower", "own": "lower"}
    assert found["kind"].unique().tolist() == ["metric"]
    assert report.metrics == [
        "COMET: the column wmt22-comet of my.csv, 12 of 12 items; higher is better, by its name",
        "ter: a column of my.csv, 12 of 12 items; lower is better, because its name says errors",
        "own: a column of my.csv, 12 of 12 items; lower is better, as told",
    ]
    assert any(line.startswith("automatic metrics: COMET: the column") for line in report.sentences())
    assert not {"wmt22-comet", "ter", "own"} & set(report.unused)


def test_a_well_known_heading_is_named_and_never_taken():
    frame = people().assign(comet=scores_of, GEMBA=50.0)
    report, found = imported(frame)
    assert found is None
    for name in ("comet", "GEMBA"):
        assert (
            f"my.csv: the column {name} may be an automatic score; it was not used. Pass --metric {name}"
            in report.notes
        )
    told, _ = imported(frame, metric_columns=["comet", "GEMBA"])
    assert not any("may be an automatic score" in note for note in told.notes)
    wide = people().drop(columns="score").assign(adequacy=people()["score"], TER=30.0)
    report, _ = imported(wide)
    ratings, _ = data.open_campaign("my.parquet")
    assert ratings["score"].sum() == people()["score"].sum()  # not TER's besides, as a second criterion
    assert any("TER may be an automatic score" in note for note in report.notes)
    columns = people().pivot_table(index=["system", "segment"], columns="annotator", values="score").reset_index()
    report, _ = imported(columns.assign(GEMBA=50.0), wide="annotators")
    assert sorted(data.open_campaign("my.parquet")[0]["annotator"].unique()) == ["Ann", "Bob"]
    assert any("GEMBA may be an automatic score" in note for note in report.notes)


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        ("own", r"Nothing says whether higher or lower scores of own are better\. Write --metric own\+"),
        ("gemba-mqm", "Nothing says whether higher or lower scores of gemba-mqm are better"),
        ("absent", r"--metric absent: there is no such column, and no such metric in a file; the columns are src_lang"),
        ("words", "the column words holds no number"),
    ],
)
def test_what_nothing_tells_is_asked(told, sentence):
    frame = people().assign(own=1.0, words="fine", **{"gemba-mqm": 3.0})
    with pytest.raises(DataError, match=sentence):
        imported(frame, metric_columns=[told])
    assert not importing.Path("my.parquet").exists()


def test_negative_error_scores_have_been_turned_round():
    frame = people().assign(**{"MetricX-24": lambda t: -scores_of(t), "gemba-mqm": lambda t: -scores_of(t)})
    _, found = imported(frame, metric_columns=["MetricX-24", "gemba-mqm"])
    assert found.groupby("annotator")["better"].first().to_dict() == {"MetricX-24": "higher", "gemba-mqm": "higher"}


def test_scores_of_one_output_that_differ_are_averaged_and_told():
    frame = people().assign(bleu=lambda t: scores_of(t) + t["annotator"].eq("Bob") * 0.02)
    frame.loc[0, "bleu"] = np.nan
    report, found = imported(frame, metric_columns=["bleu"])
    want = {key: value + 0.01 for key, value in expected().items()} | {("A", "1"): expected()["A", "1"] + 0.02}
    assert held(found, "bleu") == pytest.approx(want)
    assert "bleu has different scores in rows of the same output: of 11, the mean stands" in report.notes


def test_degraded_items_are_other_texts():
    frame = people()
    bad = frame[frame["segment"].eq("1")].assign(item_type="degraded", score=5)
    both = pd.concat([frame, bad]).assign(comet=lambda t: scores_of(t) * t["item_type"].eq("system"))
    _, found = imported(both, metric_columns=["comet"])
    assert held(found, "comet") == pytest.approx(expected())


def test_columns_of_systems_have_no_metric_of_a_row():
    wide = people().pivot_table(index=["segment", "annotator"], columns="system", values="score").reset_index()
    wide["comet"] = 0.5
    with pytest.raises(DataError, match="a row holds outputs of several systems, so comet cannot be the score of one"):
        imported(wide, wide="systems", metric_columns=["comet"])


def table_of_metrics():
    items = people().drop_duplicates(["system", "segment"])[["system", "doc", "segment"]]
    return items.assign(COMET=scores_of, TER=lambda t: 1 - scores_of(t))


@pytest.mark.parametrize("name", ["m.csv", "m.tsv", "m.jsonl", "long.csv", "no_docs.csv", "other_docs.csv"])
def test_tables_are_matched_by_names(name):
    table = table_of_metrics()[::-1]
    if name == "long.csv":
        table = table.melt(["system", "doc", "segment"], var_name="metric", value_name="score")
    if name == "no_docs.csv":
        table = table.drop(columns="doc")
    if name == "other_docs.csv":
        table["doc"] = "x" + table["doc"]
    if name.endswith("jsonl"):
        table.to_json(name, orient="records", lines=True)
    else:
        table.to_csv(name, index=False, sep="\t" if name.endswith("tsv") else ",")
    report, found = imported(people(), metric_files=[name])
    assert held(found, "COMET") == pytest.approx(expected())
    assert held(found, "TER") == pytest.approx({key: 1 - value for key, value in expected().items()})
    assert found.groupby("annotator")["better"].first().to_dict() == {"COMET": "higher", "TER": "lower"}
    assert f"COMET: {name}, 12 of 12 items, matched by system" in report.metrics[0]
    assert ("because documents are called otherwise" in report.metrics[0]) == (name == "other_docs.csv")


def test_what_does_not_match_is_counted():
    more = pd.DataFrame({"system": ["Z", "A"], "doc": ["d1", "d9"], "segment": ["1", "1"], "COMET": [1.0, 1.0]})
    table = pd.concat([table_of_metrics().query("not (system == 'B' and segment == '2')"), more])
    table[["system", "doc", "segment", "COMET"]].to_csv("m.csv", index=False)
    report, found = imported(people(), metric_files=["m.csv"])
    want = expected()
    del want["B", "2"]
    unjudged = found["doc"].eq("d9")  # a system's other segments are kept: they may stand in for judgements
    assert found.loc[unjudged, ["system", "segment", "score"]].values.tolist() == [["A", "1", 1.0]]
    assert held(found[~unjudged], "COMET") == pytest.approx(want)
    assert report.metrics == [
        "COMET: m.csv, 11 of 12 items, matched by system, doc, segment; higher is better, by its name; 2 further "
        "scores are of nothing that people judged, such as those of Z"
    ]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda t: t.drop(columns="segment"), "m.csv has no column for segment; it has system, doc, COMET, TER"),
        (
            lambda t: t.assign(system="Z" + t["system"]),
            r"none of its 12 scores by COMET belongs to an item that people judged\. It has",
        ),
        (lambda t: pd.concat([t, t.assign(COMET=0.1)]), "COMET scored .* more than once, differently"),
        (lambda t: t.assign(COMET="high"), "m.csv, line 2, column COMET: 'high' is no number"),
        (lambda t: t.assign(COMET=np.nan), r"^m\.csv: COMET has no score beside the names of an output\. Fill it in"),
        (lambda t: t.rename(columns={"COMET": "ours", "TER": "mine"}), "no column says whose scores these are"),
        (lambda t: t.head(0).assign(metric="", score=""), r"^m\.csv has no row that names a metric in metric\. Check"),
        (lambda t: t.assign(metric="", score="1"), r"^m\.csv has no row that names a metric in metric\. Check"),
    ],
)
def test_tables_that_cannot_be_matched_are_refused(change, sentence):
    change(table_of_metrics()).to_csv("m.csv", index=False)
    with pytest.raises(DataError, match=sentence):
        imported(people(), metric_files=["m.csv"])


def test_segments_of_one_name_in_several_documents_need_the_document():
    frame = people().assign(segment=lambda t: ((t["segment"].astype(int) - 1) % 3).astype(str))
    table_of_metrics().drop(columns="doc").to_csv("m.csv", index=False)
    with pytest.raises(DataError, match=r"m\.csv has no column doc, and people judged segments of the same name"):
        imported(frame, metric_files=["m.csv"])


def test_several_language_pairs_need_languages():
    frame = pd.concat([people(), people().assign(tgt_lang="jpn")])
    table_of_metrics().to_csv("m.csv", index=False)
    with pytest.raises(DataError, match=r"m\.csv does not say the languages, and people judged several pairs"):
        imported(frame, metric_files=["m.csv"])
    table_of_metrics().assign(pair="en-ja").to_csv("m.csv", index=False)
    _, found = imported(frame, metric_files=["m.csv"])
    assert found["tgt_lang"].unique().tolist() == ["jpn"]


def layout(folder, *, first=1, lines=6, name="COMET-refA", documents=True, scored=lambda system, line: True):
    """Write mt-metrics-eval's files of a metric: each system's segments in order."""
    place = folder / "metric-scores" / "en-de"
    place.mkdir(parents=True, exist_ok=True)
    rows = []
    for system in ("B", "A", "Z"):
        for line in range(lines):
            segment = line + first
            value = {"A": 0.5, "B": 0.25}.get(system, 0) + segment / 100
            rows.append(f"{system}\t{value if scored(system, line) else None}")
    (place / f"{name}.seg.score").write_text("\n".join([*rows, ""]), encoding="utf-8")
    if documents:
        (folder / "documents").mkdir(exist_ok=True)
        docs = ["news\td1" if line + first <= 3 else "news\td2" for line in range(lines)]
        (folder / "documents" / "en-de.docs").write_text("\n".join([*docs, ""]), encoding="utf-8")
    return place / f"{name}.seg.score"


@pytest.mark.parametrize("first", [1, 0])
def test_lines_are_counted_as_documents_say(tmp_path, first):
    lines = 7 if first == 0 else 6
    path = layout(tmp_path, first=first, lines=lines)
    report, found = imported(people(), metric_files=[path])
    assert held(found, "COMET") == pytest.approx(expected())
    assert f"matched by the order of lines, counted from {first}, as the documents say" in report.metrics[0]
    assert "such as those of Z" in report.metrics[0]


def test_numbers_within_documents_are_matched_by_the_documents(tmp_path):
    frame = people().assign(segment=lambda t: ((t["segment"].astype(int) - 1) % 3).astype(str))
    report, found = imported(frame, metric_files=[layout(tmp_path)])
    assert "matched by the order within documents, counted from 0" in report.metrics[0]
    own = found.set_index(["system", "doc", "segment"])["score"]
    want = people().drop_duplicates(["system", "segment"]).assign(score=scores_of)
    want["segment"] = ((want["segment"].astype(int) - 1) % 3).astype(str)
    assert own.to_dict() == pytest.approx(want.set_index(["system", "doc", "segment"])["score"].to_dict())


def test_without_documents_only_what_is_sure_is_matched(tmp_path):
    _, found = imported(people(), metric_files=[layout(tmp_path, documents=False)])
    assert held(found, "COMET") == pytest.approx(expected())  # segment 6 of 6 lines: counted from 1
    unsure = layout(tmp_path / "more", documents=False, lines=9)
    with pytest.raises(DataError, match=r"people's segments may be its lines .* and nothing tells which"):
        imported(people(), metric_files=[unsure])
    holes = layout(tmp_path / "holes", documents=False, lines=9, scored=lambda system, line: 0 <= line < 6)
    _, found = imported(people(), metric_files=[holes])  # only lines 1 to 6 have scores: those are people's
    assert held(found, "COMET") == pytest.approx(expected())
    named = people().assign(segment=lambda t: "s" + t["segment"])
    with pytest.raises(DataError, match=r"nothing says which line people's segments \('s1', 's2', 's3'\) are"):
        imported(named, metric_files=[unsure])
    with pytest.raises(DataError, match=r"scores B, A, Z …, and people judged A1, B1 …: no system has the same name"):
        imported(people().assign(system=lambda t: t["system"] + "1"), metric_files=[unsure])


def test_folders_have_many_metrics_and_scores_of_systems(tmp_path):
    layout(tmp_path / "wmt")
    layout(tmp_path / "wmt", name="TER-refA")
    layout(tmp_path / "wmt", name="BLEU-refA")
    layout(tmp_path / "wmt", name="BLEU-refB")
    (tmp_path / "wmt" / "metric-scores" / "en-de" / "slide-src.sys.score").write_text("A\t3\nB\t2\nZ\t1\n")
    other = tmp_path / "wmt" / "metric-scores" / "zh-en"
    other.mkdir()
    (other / "COMET-refA.seg.score").write_text("A\t3\n")
    _, found = imported(people(), metric_files=[tmp_path / "wmt"])
    assert sorted(found["annotator"].unique()) == ["BLEU-refA", "BLEU-refB", "COMET", "TER", "slide"]
    assert found.groupby("annotator")["better"].first()["TER"] == "lower"  # positive, though the layout keeps higher
    whole = found[found["level"] == "system"]
    assert whole.set_index("system")["score"].to_dict() == {"A": 3, "B": 2}
    assert whole["annotator"].unique().tolist() == ["slide"]
    _, found = imported(people(), metric_files=[tmp_path / "wmt"], metric_columns=["TER+"])
    assert found.groupby("annotator")["better"].first()["TER"] == "higher"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("A\t0.1\nA\n", "line 2: not a system and a score, cut by a tab"),
        ("A\t0.1\nA\thigh\n", "line 2: 'high' is no score"),
        ("A\t0.1\nA\tinf\n", "line 2: 'inf' is no score"),
        ("A\t0.1\nA\t0,2\ufeff\n".encode("utf-16"), "is not encoded in UTF-8, as this layout is"),
        ("A\t0.1\nA\t0.2\nB\t0.1\n", "B has 1 lines, A 2"),
    ],
)
def test_broken_layouts_are_refused(tmp_path, text, sentence):
    content = text if isinstance(text, bytes) else text.encode()
    (tmp_path / "en-de.COMET-refA.seg.score").write_bytes(content)
    with pytest.raises(DataError, match=sentence):
        imported(people(), metric_files=[tmp_path / "en-de.COMET-refA.seg.score"])


def test_metrics_are_read_beside_a_result_without_importing_again(tmp_path):
    imported(people())
    ratings, _ = data.open_campaign("my.parquet")
    table_of_metrics().to_csv("m.csv", index=False)
    found = data.open_judges("my.parquet", ratings=ratings, metrics=["m.csv"])
    assert held(found, "COMET") == pytest.approx(expected())
    source, own = found.attrs["source"], ratings.attrs["source"]
    assert (source["name"], source["origin"]) == ("my-metrics", "my.csv, m.csv")
    assert source["digest"].startswith(f"{own['digest']}+")
    assert data.open_judges("", ratings=ratings, metrics=[]) is None
    imported(people(), metric_files=["m.csv"])
    assert data.open_judges("my.parquet").attrs["source"] == source  # the same files, the same digests
    with pytest.raises(DataError, match="Two metrics or judges are called COMET"):
        data.open_judges("my.parquet", ratings=ratings, metrics=["m.csv"])
    with pytest.raises(DataError, match=r"absent\.csv is not there"):
        data.open_judges("my.parquet", ratings=ratings, metrics="absent.csv")


def test_metrics_and_judges_survive_another_import():
    frame = people().assign(comet=scores_of)
    model = frame[frame["annotator"] == "Ann"].assign(annotator="gpt")
    _, before = imported(pd.concat([frame, model]), metric_columns=["comet"], judges=["gpt"])
    importing.import_campaign(["my.parquet"], "again.parquet", keep_names=True)
    again = data.open_judges("again.parquet")
    assert again.groupby(["kind", "annotator"]).size().to_dict() == {("judge", "gpt"): 12, ("metric", "comet"): 12}
    assert held(again, "comet") == pytest.approx(held(before, "comet"))


def test_a_metrics_file_is_never_written_over():
    people().to_csv("my.csv", index=False)
    table_of_metrics().to_csv("my.rejected.csv", index=False)
    with pytest.raises(DataError, match=r"my\.rejected\.csv is to be read and would be written over"):
        importing.import_campaign(["my.csv"], "my.parquet", metric_files=["my.rejected.csv"])


def test_released_scores_are_matched_with_the_campaign_that_they_were_made_from(tmp_path, mirrored):
    folder = mirrored("wmt-conference/ErrorSpanAnnotation/*/data/campaign-ruction-rc5/240315rc5ESA.scores.csv").parent
    told = {"batches": folder / "data" / "batches_wmt23_en-de_esa.json", "out": tmp_path / "esa.parquet"}
    own, metric = folder / "en-de.ESA-1.seg.score", "mt-metrics-eval-v2/wmt23/metric-scores/en-de/COMET-refA.seg.score"
    files = [own, folder.parent / metric]
    importing.import_campaign([folder / "240315rc5ESA.scores.csv"], metric_files=files, **told)
    ratings, _ = data.open_campaign(tmp_path / "esa.parquet")
    found = data.open_judges(tmp_path / "esa.parquet")
    plain = ratings[ratings["item_type"].isin(["system", "reference"])]
    both = plain.merge(found[found["annotator"] == "ESA-1"], on=["system", "doc", "segment"], suffixes=("", "_own"))
    assert len(both) == len(plain) == 2691
    assert both["score"].tolist() == both["score_own"].tolist()  # the released scores are these judgements
    comet = found[found["annotator"] == "COMET"]
    lines = (folder.parent / metric).read_text().splitlines()
    of_system = [float(line.split("\t")[1]) for line in lines if line.startswith("ONLINE-B\t")]
    for row in comet[comet["system"] == "ONLINE-B"].itertuples():
        assert row.score == of_system[int(row.segment)]  # the batches count lines from 0
    assert len(comet) == 12 * 207


def test_the_command_takes_columns_and_files(capsys):
    from evalkit.reports import cli

    people().assign(comet=scores_of).to_csv("my.csv", index=False)
    table_of_metrics()[["system", "segment", "TER"]].to_csv("m.csv", index=False)
    words = ["import", "my.csv", "--metric", "comet", "--metric", "TER-", "--metrics", "m.csv", "--out", "my.parquet"]
    assert cli.main(words) == 0
    assert "TER: m.csv, 12 of 12 items, matched by system, segment; lower is better, as told" in capsys.readouterr().err
    assert data.open_judges("my.parquet")["annotator"].unique().tolist() == ["comet", "TER"]


def test_paths_of_metrics_are_found_and_shown_without_folders(tmp_path):
    from evalkit import ROOT
    from evalkit.reports import execute
    from evalkit.reports.studies import Study

    (tmp_path / "m.csv").write_text("x", encoding="utf-8")
    study = Study("campaign", ROOT / "notebooks" / "studies" / "campaign.ipynb", "t", data=("wmt22-mturk",))
    task = execute.bound(study, {"metrics": ["m.csv", "."]}, tmp_path)
    assert task.parameters["metrics"] == [str(tmp_path / "m.csv"), str(tmp_path)]
    assert task.data == ("wmt22-mturk",), "metrics stand beside the study's data"
    assert execute.without_folders(task).parameters["metrics"] == ["m.csv", tmp_path.name]
    with pytest.raises(DataError, match=r"campaign: metrics=absent\.csv is no file or folder in"):
        execute.bound(study, {"metrics": ["absent.csv"]}, tmp_path)
