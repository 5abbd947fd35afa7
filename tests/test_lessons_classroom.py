"""A class annotates: its campaign, its own file, and the simulated class that stands in for it."""

import json
import os

import nbformat
import numpy as np
import openpyxl
import pandas as pd
import pytest

from evalkit import ROOT, DataError, data, lessons
from evalkit.data.importing import import_campaign
from evalkit.data.provenance import source_of
from evalkit.lessons import annotate, classroom
from evalkit.lessons import error_spans as made
from evalkit.reports.cli import main
from evalkit.show import MIME
from evalkit.stats import agreement


def new_class(folder, name, *options):
    """Make a campaign for a class; return its design."""
    assert main(["new", "campaign", name, "--class", *options, "--out", str(folder)]) == 0
    return json.loads((folder / name / "design.json").read_text())


@pytest.fixture(scope="module")
def campaign(tmp_path_factory):
    """Make a class's campaign as its teacher does."""
    folder = tmp_path_factory.mktemp("class")
    new_class(folder, "our_class", "--protocol", "esa", "--annotators", "3")
    return folder / "our_class"


@pytest.fixture(scope="module")
def class_file(campaign):
    """Fill in the students' workbooks, and import them."""
    rng = np.random.default_rng(3)
    for path in sorted((campaign / "for_annotators").glob("*.xlsx")):
        book = openpyxl.load_workbook(path)
        for row in range(2, book.active.max_row + 1):
            book.active.cell(row, 5).value = int(rng.integers(0, 101))
        book.save(path)
    books = sorted((campaign / "for_annotators").glob("*.xlsx"))
    out = campaign / "class.parquet"
    import_campaign(books, out, design=campaign / "design.json", keep_names=True)
    return out


#: How many screens each student has judged: the second and the third have not come to the end.
SCREENS = {"annotator-01": 14, "annotator-02": 14, "annotator-03": 5}


@pytest.fixture(scope="module")
def marked_file(campaign, tmp_path_factory):
    """Write Pearmut's log of a class of which one has not finished, as Pearmut 1.1.6 writes it, and import it."""
    rng, lines = np.random.default_rng(5), []
    given = json.loads((campaign / "campaign.json").read_text())
    for user, task in zip(given["info"]["users"], given["data"]):
        for number, screen in enumerate(task[: SCREENS[user]]):
            answers = []
            for item in screen:
                [(alias, _)] = item["tgt"].items()
                marks = [
                    {"start_i": 0, "end_i": 3 + int(rng.integers(0, 4)), "category": None, "severity": severity}
                    for severity in rng.choice(["minor", "major"], int(rng.integers(0, 2)))
                ]
                answers.append({alias: {"score": int(rng.integers(0, 101)), "error_spans": marks, "textfield": None}})
            actions = [{"time": 1.7e9 + 100 * number, "action": "load"}, {"time": 1.7e9 + 100 * number + 80}]
            lines.append({"annotation": answers, "actions": actions, "item": screen, "user_id": user, "item_i": number})
    folder = tmp_path_factory.mktemp("pearmut")
    log, out = folder / "our_class.jsonl", folder / "class.parquet"
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    import_campaign([log], out, design=campaign / "design.json", keep_names=True)
    return out


def test_a_class_meets_its_own_marks(marked_file, class_file):
    ratings, marks = classroom.marks(str(marked_file))
    assert set(ratings["item_type"]) == set(marks["item_type"]) == {"system"}
    assert ratings["annotator"].value_counts()["annotator-01"] == 48
    assert set(marks["annotator"]) == {"annotator-01", "annotator-02", "annotator-03"}
    assert source_of(marks)["source"] == "real"
    assert marks["end"].sub(marks["start"]).between(4, 7).all(), "Pearmut names the last character, we the one after it"
    with pytest.raises(DataError, match=r"class\.parquet holds no marked errors: workbooks have room for scores only"):
        classroom.marks(str(class_file))


def test_the_simulated_class_marks_more_where_it_scores_lower():
    ratings, marks = classroom.marks()
    assert {source_of(table)["source"] for table in (ratings, marks)} == {"simulated"}
    counted = made.with_counts(ratings, marks)
    assert counted["errors"].corr(counted["score"]) < -0.5
    assert counted["major"].sum() > 50
    pd.testing.assert_frame_equal(marks, classroom.marks()[1])
    assert len(classroom.marks(seed=8)[1]) != len(marks)


def test_a_class_of_which_one_has_not_finished_is_a_class(marked_file):
    ratings = classroom.judgements(str(marked_file))
    table = annotate.items(ratings)
    assert table.isna().any(axis=None), "not everybody judged everything"
    most = table.std(axis=1).idxmax()
    assert lessons.exercises("annotate")["most_disputed"].verdict(most, table).kind == "right"
    followed = classroom.as_metrics(ratings)
    assert followed["pairwise"].between(0, 1).all()
    apart = ratings[~(ratings["annotator"].eq("annotator-03") & ratings["system"].ne("clean"))]
    alone = classroom.as_metrics(apart[apart["annotator"].ne("annotator-02") | apart["system"].eq("clean")])
    assert alone["pairwise"].isna().all(), "no two translations of a segment were judged by two people"


def test_in_a_class_everybody_judges_everything(campaign):
    design = json.loads((campaign / "design.json").read_text())
    assert (design["everybody"], design["calibration"], design["protocol"]) == (True, 0, "ESA")
    rows = pd.read_csv(campaign / "assignment.csv")
    own = rows[rows["item_type"] == "system"]
    assert own.groupby(["system", "doc", "segment"])["annotator"].nunique().eq(3).all()
    assert len(own) == 3 * 3 * 16
    assert set(rows["item_type"]) == {"system", "repeat", "degraded"}
    orders = own.groupby("annotator")[["system", "segment"]].agg(list).apply(tuple, axis=1)
    assert len(set(map(str, orders))) == 3, "everybody in an order of their own"
    assert "--keep-names" in (campaign / "README.md").read_text()
    assert "more documents than there are" not in (campaign / "README.md").read_text()


def test_a_class_meets_its_own_file_in_the_lessons(class_file):
    ratings = classroom.judgements(str(class_file))
    assert source_of(ratings)["source"] == "real"
    assert classroom.person(ratings) == "annotator-01", "numbers survive the import"
    assert f"Your class: 3 annotators, {len(ratings)} judgements" in classroom.introduced(ratings, "annotator-02")
    assert ratings["item_type"].value_counts()["system"] == 48 * 3
    assert classroom.matrix(ratings).shape == (48, 3)
    assert set(classroom.copies(ratings)["item_type"]) == {"repeat", "degraded"}
    assert classroom.disputed(ratings)["hypothesis"].str.len().min() > 5, "texts come from the workbooks"
    with pytest.raises(DataError, match="there is no 'annotator-9' in this file"):
        classroom.person(ratings, "annotator-9")


@pytest.mark.parametrize("who", ["one person", "a few"])
def test_a_class_of_which_one_hardly_judged_is_told_who(who, class_file, tmp_path):
    ratings, _ = data.open_campaign(class_file)
    own = ratings[ratings["item_type"].eq("system")].drop(columns=["source", "hypothesis"])
    late = own["annotator"].eq("annotator-02") & ~(own["segment"].eq("3") & own["system"].eq("clean"))
    kept = own[own["annotator"].eq("annotator-01")] if who == "one person" else own[~late]
    kept.to_csv(tmp_path / "short.csv", index=False)
    import_campaign([tmp_path / "short.csv"], tmp_path / "short.parquet", keep_names=True)
    told = "one person" if who == "one person" else r"annotator-02 judged fewest \(1\)"
    with pytest.raises(DataError, match=told):
        classroom.judgements(str(tmp_path / "short.parquet"))


SLOW = {("0", "class_file"), ("6", "marked_file")}
LESSONS = sorted((ROOT / "notebooks" / "lessons").glob("[0-6]_*.ipynb"))


#: Lessons on files of a class: two in each run of slow tests, all nightly. Workbooks have no room for marks.
ON_A_CLASS = [
    pytest.param(path, tool, marks=pytest.mark.slow if (path.stem[0], tool) in SLOW else pytest.mark.nightly)
    for path in LESSONS
    for tool in ("class_file", "marked_file")
    if (path.stem, tool) != ("6_error_spans", "class_file")
]


@pytest.mark.parametrize(("path", "tool"), ON_A_CLASS)
def test_every_lesson_runs_on_a_class_of_its_own(path, tool, request, monkeypatch, tmp_path, executed):
    class_file = request.getfixturevalue(tool)
    for name in [name for name in os.environ if name.startswith("EVALKIT_DATA_MIRROR")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("EVALKIT_OFFLINE", "1")
    monkeypatch.setenv("EVALKIT_DATA_DIR", str(tmp_path))
    notebook = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)
    [cell] = [cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", [])]
    cell.source += f"\nclass_file, me = {str(class_file)!r}, 'annotator-02'"
    run = executed(notebook)
    outputs = [output for cell in run.cells for output in cell.get("outputs", []) if "data" in output]
    told = [output["data"][MIME] for output in outputs if MIME in output["data"]]
    assert [one for one in told if one["kind"] == "check" and not one["passed"]] == []
    sources = {one["name"]: one["source"] for one in told if one["kind"] == "source"}
    assert "simulated-class" not in sources
    assert sources[class_file.name if class_file.name in sources else class_file.stem] == "real"
    words = "".join(str(output["data"].get("text/plain", "")) for output in outputs)
    whole = classroom.marks if path.stem.startswith("6") else data.open_campaign
    counted = len(whole(str(class_file))[0])
    assert f'Your class: 3 annotators, {counted} judgements. Where it says "you", it means annotator-02.' in words


def test_the_simulated_class_says_that_it_is_one():
    ratings = classroom.judgements()
    assert source_of(ratings)["source"] == "simulated"
    assert ratings["annotator"].str.startswith("sim-").all()
    assert "SIMULATED: nobody gave these scores" in classroom.introduced(ratings)
    assert ratings["score"].between(0, 100).all()
    pd.testing.assert_frame_equal(ratings, classroom.judgements())
    assert not ratings["score"].equals(classroom.simulated(seed=8)["score"])


@pytest.mark.parametrize("seed", range(4))
def test_the_simulated_class_holds_what_was_put_in(seed):
    ratings = classroom.simulated(seed=seed)
    strict = classroom.strictness(ratings).set_index("annotator")
    assert strict.index[0] == "sim-02", "the strictest by 14 points"
    assert strict["below"].sum() == pytest.approx(0)
    losses = classroom.copies(ratings).groupby("item_type")["loss"].mean()
    assert losses["degraded"] > 20 > losses["repeat"] > -20
    wide = classroom.matrix(ratings)
    by_sense = wide["sim-04"] - wide["sim-06"]
    by_system = by_sense.groupby("system").mean()
    assert by_system["smooth"] < by_system["stiff"], "one counts what is said, the other how"


def test_what_a_class_is_told_is_what_other_ways_give():
    ratings = classroom.simulated()
    wide = classroom.matrix(ratings)
    you, other = classroom.nearest(ratings)
    counts = classroom.agreement_tables(ratings, you, other).to_numpy()
    parts = [pd.cut(wide[name], [-1, 33.33, 66.66, 101], labels=False) for name in (you, other)]
    assert counts.sum() == 48
    assert np.trace(counts) == (parts[0] == parts[1]).sum()
    table = classroom.as_metrics(ratings).set_index("annotator")
    rest = wide.drop(columns="sim-03").mean(axis=1)
    assert table.loc["sim-03", "pearson"] == pytest.approx(np.corrcoef(wide["sim-03"], rest)[0, 1])
    right = total = 0
    for _, part in pd.DataFrame({"a": wide["sim-03"], "b": rest}).groupby(["doc", "segment"]):
        for i in range(3):
            for j in range(i):
                a, b = part["a"].iloc[i] - part["a"].iloc[j], part["b"].iloc[i] - part["b"].iloc[j]
                right, total = right + (np.sign(a) == np.sign(b)), total + 1
    assert table.loc["sim-03", "pairwise"] == pytest.approx(right / total)
    first = classroom.disputed(ratings).iloc[0]
    row = wide.loc[(first["system"], first["doc"], first["segment"])]
    assert (row.min(), row.max()) == (first["lowest"], first["highest"])
    assert row.std() == wide.std(axis=1).max()
    assert agreement.score_matrix(ratings[ratings["item_type"] == "system"]).equals(wide)
