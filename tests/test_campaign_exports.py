"""What an export writes: tables, LaTeX, methods and their references, the datasheet; and that what is claimed is true."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evalkit import DataError, campaign, data, show
from evalkit.campaign import exports, paperwork, quality
from evalkit.campaign.paperwork.datasheet import QUESTIONS, form
from evalkit.campaign.paperwork.markup import REFERENCES, bibtex, tex
from evalkit.campaign.paperwork.methods import DA, ESA, MQM, PREFERENCES, UNKNOWN, XSTS, protocol_of
from evalkit.data.delimited import guarded, unguarded
from evalkit.data.typology import SCHEMES, WMT
from evalkit.human import annotators
from evalkit.reports import cli
from tests.makers import changed, finished, ratings
from tests.pages import errors_in, numbers, page

GOOD = {"study": "s", "status": "ok", "parameters": {"seed": 7}, "data": [], "recorded": {}, "signature": "s|seed:7"}


def written(folder, name="r", **changes):
    """Write a report in the shape of a study's JSON, and return its path."""
    path = folder / f"{name}.json"
    path.write_text(json.dumps(GOOD | changes), encoding="utf-8")
    return path


def exported(folder, recorded, **changes):
    """Export a report that records these values; return the folder."""
    campaign.export(written(folder, recorded=recorded, **changes), folder / "out")
    return folder / "out"


def test_exports_hold_every_table_to_the_last_digit(tmp_path, capsys):
    rankings = [
        {"system": "a_b & $x$ \\input{y}", "score": 1.23456, "sure": True, "note": None},
        {"system": "=1+1", "score": None, "sure": False, "note": "x"},
    ]
    recorded = {"rankings": rankings, "alpha": 0.5, "none": [], "long": [{"n": n} for n in range(100)]}
    report = written(tmp_path, recorded=recorded, data=[{"name": "mine", "source": "simulated"}])
    assert cli.main(["export", str(report), "--out", str(tmp_path / "out")]) == 0
    names = {line.rpartition("/")[2] for line in capsys.readouterr().out.splitlines()}
    assert names == {path.name for path in (tmp_path / "out").iterdir()}, "the command prints the files it wrote"
    assert {"rankings.csv", "rankings.parquet", "rankings.tex", "long.csv", "long.parquet", "methods.md"} <= names
    assert not {"long.tex", "methods.bib", "datasheet.md"} & names, "a study has no datasheet"
    csv, parquet = exports.read_csv(tmp_path / "out/rankings.csv"), pd.read_parquet(tmp_path / "out/rankings.parquet")
    for name in ("system", "score", "sure", "note"):
        for table in (csv, parquet):
            assert [None if pd.isna(cell) else cell for cell in table[name]] == [row[name] for row in rankings]
    assert json.loads((tmp_path / "out/values.json").read_text(encoding="utf-8"))["alpha"] == 0.5
    text = (tmp_path / "out/rankings.tex").read_text(encoding="utf-8")
    assert r"a\_b \& \$x\$ \textbackslash{}input\{y\} & 1.235 & yes & -- \\" in text
    assert "seed:7" in text.splitlines()[0]
    assert "SIMULATED" in (tmp_path / "out/methods.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "text", ["\\", "{{}", "%", "a\nb", "^~", "_#&$", "<|>", "\\end{tabular}", "✓ fine", "`x`", "“q”…"]
)
def test_latex_of_any_text_keeps_braces_balanced_and_nothing_unescaped(text):
    found = tex(text)
    bare = re.sub(r"\\[{}$&#_%]", "", found)
    assert bare.count("{") == bare.count("}")
    assert bare.count("$") % 2 == 0
    assert not set("%#&_^~\n`✓") & set(bare.replace("``", ""))


def test_a_row_of_latex_cannot_be_taken_for_an_option():
    table = pd.DataFrame({"[2cm]": ["[2cm]", "*", "b"], "score": [-0.5, None, 1e-7], "note": ["-x", "--", "ü"]})
    lines = exports.latex(table, name="t").splitlines()
    assert {r"{}[2cm] & score & note \\", r"{}[2cm] & $-$0.5 & -x \\", r"{}* & -- & -- \\"} <= set(lines)
    assert not any(line.startswith("%") for line in lines)
    long = pd.DataFrame({"check": ["short"], "found": ["a long sentence " * 5], "n": [1]})
    assert r"\begin{tabular}{lp{" in exports.latex(long, name="t"), "columns of sentences break lines"


REPORTS = {
    "[]": "no report of a study",
    "{": "no JSON report",
    json.dumps(GOOD | {"status": "failed"}): "failed",
    json.dumps(GOOD | {"recorded": {"huge": [{"x": 10**30}]}}): "huge",
    json.dumps(GOOD | {"recorded": {"x": float("nan")}}): "no JSON report",
}


@pytest.mark.parametrize("content", REPORTS, ids=range(len(REPORTS)))
def test_what_is_no_good_report_is_refused_and_leaves_nothing(content, tmp_path, capsys):
    (tmp_path / "r.json").write_text(content, encoding="utf-8")
    assert cli.main(["export", str(tmp_path / "r.json"), "--out", str(tmp_path / "out")]) == 1
    assert REPORTS[content] in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


#: What spreadsheets take for the beginning of a formula.
STARTS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
LETTERS = st.text(st.sampled_from("=+-@＝＋－＠';,\t\r\n \"\ufeff\u200b\0a1.e"), max_size=12) | st.text(max_size=12)


@given(LETTERS)
def test_no_text_runs_in_a_spreadsheet_and_every_text_comes_back(text):
    written = guarded(text)
    assert unguarded(written) == text
    assert unguarded(guarded(written)) == written
    for part, now in zip(re.split("[;\t\r\n]", text), re.split("[;\t\r\n]", written), strict=True):
        assert now in (part, f"'{part}")
        if now.lstrip('\0\ufeff\u200b" ').startswith(STARTS):
            float(now)  # a number is all it can be


def test_whole_numbers_that_floats_would_round_stay_whole_and_headings_may_hold_any_letters(tmp_path):
    huge = 2**53 + 1
    recorded = {
        "gaps": [{"n": huge}, {"n": None}, {"n": 1}],
        "": [{"": 1}],
        "nested": [{"n": ""}, {"n": [1]}, {}],
        "rows": [{"a": "x"}, {"b": 1}, {"b": "y"}, {}],
        "letters": [{"a{b}%s": 1, "é": 2, "e\u0301": 3}],
    }
    out = exported(tmp_path, recorded)
    for table in (exports.read_csv(out / "gaps.csv"), pd.read_parquet(out / "gaps.parquet")):
        assert [None if pd.isna(cell) else cell for cell in table["n"]] == [huge, None, 1]
    assert list(exports.read_csv(out / "table.csv")) == [""], "a heading may be empty"
    assert exports.read_csv(out / "rows.csv")["b"].isna().tolist() == [True, False, False, True], "a gap is no text"
    assert list(exports.read_csv(out / "letters.csv")) == ["a{b}%s", "é", "e\u0301"]
    assert r"a\{b\}\%s & é & é \\" in (out / "letters.tex").read_text(encoding="utf-8")


def contents(folder):
    """Everything in a folder, byte by byte."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def versions(tmp_path):
    """Two reports that share a table and have one each of their own."""
    return [
        written(tmp_path, name, recorded={"shared": [{"x": name}], f"only_{name}": [{"y": 1}]})
        for name in ("old", "new")
    ]


def test_two_exports_of_a_report_are_the_same_bytes_and_nothing_of_an_earlier_one_stays(tmp_path, versions):
    (old, new), out = versions, tmp_path / "out"
    campaign.export(old, out)
    first = contents(out)
    campaign.export(old, out)
    assert contents(out) == first
    files = campaign.export(new, out)
    assert {path.name for path in out.iterdir()} == {path.name for path in files}
    assert not (out / "only_old.csv").exists()
    assert {path.name for path in tmp_path.iterdir()} == {"old.json", "new.json", "out"}, "no drafts are left"
    (out / "export.json").write_text("{}")
    with pytest.raises(DataError, match="no list of a whole export"):
        exports.read_csv(out / "shared.csv")


@pytest.mark.parametrize("name", ["shared.csv", "export.json", "methods.md"])
def test_what_no_export_wrote_or_somebody_filled_in_is_not_written_over(name, tmp_path, versions):
    (old, new), out = versions, tmp_path / "out"
    out.mkdir()
    (out / name).write_text("[]")
    with pytest.raises(DataError, match=name):
        campaign.export(old, out)
    assert contents(out) == {name: b"[]"}
    (out / name).unlink()
    campaign.export(old, out)
    (out / "methods.md").write_text("My own words.")
    with pytest.raises(DataError, match=r"methods\.md"):
        campaign.export(new, out)
    assert (out / "methods.md").read_text() == "My own words."
    assert (out / "only_old.csv").exists()


# Methods, their references, the datasheet and LaTeX: what is claimed and cited, on campaigns of every protocol.

KEY = ["src_lang", "tgt_lang", "system", "doc", "segment", "annotator"]


def judged(names=("A", "B", "C"), *, scale=(0.0, 100.0), reading=None, **columns):
    """Draw a campaign in which two annotators judge every segment of every system."""
    frame = ratings(3, systems=names, people=2, level=75, spread={"residual": 10.0})
    low, high = scale
    frame = finished(frame.assign(score=(low + (high - low) * frame["score"] / 100).round(), **columns), scale)
    frame.attrs |= {"reading": reading} if reading else {}
    return frame


def spans_of(frame, error_type="unstated"):
    """Mark an error, minor or major, in some judgements."""
    spans = errors_in(frame.sample(frac=0.4, random_state=2).drop(columns="item_type"), error_type=error_type)
    return spans.assign(severity=np.where(spans.index % 2, "minor", "major"))


def reading(format, **receipt):
    return {"format": format, "receipt": {"rows": "9 read, 8 kept", **receipt}}


def analysed(frame, spans=None, **options):
    return campaign.analyse(campaign.from_ratings(frame, spans, **options), resamples=20)


@pytest.fixture(scope="module")
def methods():
    """What a campaign's methods say: made of a plain one, but for how it was judged, which is a protocol's, by name."""
    plain = analysed(judged())

    def told(name):
        mine = campaign.from_ratings(*PROTOCOLS[name][:2])
        found = changed(plain, campaign=mine, collection=campaign.count_judgements(mine))
        return mine, paperwork.methods(found, resamples=20, seed=7)

    return told


WEIGHTS = SCHEMES[WMT].describe()
ESA_FRAME, MQM_FRAME = judged(reading=reading("esa")), judged(reading=reading("mqm", weights=WEIGHTS))
OWN_WEIGHTS = judged(reading=reading("mqm", weights="as told: minor 1"))
CHOICES = judged(scale=(0.0, 1.0), against="B", reading=reading("preferences"))
#: How a campaign was judged -> its tables, the protocol, and those works about protocols that its methods cite.
PROTOCOLS = {
    "ESA": (ESA_FRAME, spans_of(ESA_FRAME), ESA, "kocmi2024"),
    "spans of any tool": (judged(reading=reading("csv")), spans_of(judged()), ESA, "kocmi2024"),
    "MQM of WMT": (
        MQM_FRAME,
        spans_of(MQM_FRAME, "accuracy/omission"),
        MQM,
        "lommel2014 freitag2021 burchardt2014",
    ),
    "MQM, own weights": (OWN_WEIGHTS, spans_of(judged()), MQM, "lommel2014"),
    "XSTS": (judged(scale=(1.0, 5.0), reading=reading("xsts")), None, XSTS, "licht2022"),
    "DA": (judged(reading=reading("appraise")), None, DA, "graham2013"),
    "preferences": (CHOICES, None, PREFERENCES, ""),
    "a spreadsheet": (judged(reading=reading("csv")), None, UNKNOWN, ""),
    "no import": (judged(), None, UNKNOWN, ""),
}
ABOUT_PROTOCOLS = {"kocmi2024", "lommel2014", "freitag2021", "burchardt2014", "licht2022", "graham2013", "sai2023"}


def keys_of(bib):
    """The keys of a BibTeX file, whose entries are whole."""
    assert bib.isascii()
    assert bib.count("{") == bib.count("}")
    return re.findall(r"^@\w+\{(\w+),$", bib, re.MULTILINE)


@pytest.mark.parametrize("name", PROTOCOLS)
def test_methods_know_the_protocol_and_every_work_they_cite_is_in_the_bib(name, methods):
    expected, works = PROTOCOLS[name][2:]
    mine, told = methods(name)
    assert protocol_of(mine).name == expected
    keys = {key for group in re.findall(r"\\cite\w+\{([^}]*)\}", told.latex) for key in group.split(",")}
    assert keys & ABOUT_PROTOCOLS == set(works.split())
    assert sorted(keys) == keys_of(bibtex(told.works))
    assert told.references == sorted(REFERENCES[key].text for key in keys)
    assert [key for key in keys if REFERENCES[key].label not in told.text] == []
    assert (f"Weights: {WEIGHTS}." in told.text) == ("freitag2021" in works)
    assert "[annotators: " in told.text, "what no file tells is left to be filled in"
    assert ("[protocol, " in told.text) == (expected == UNKNOWN)


def test_methods_tell_how_the_file_was_read_without_advice_to_its_importer():
    receipt = {
        "scale": "1 to 5 (proposed from the data: the smallest; so --scale LOW:HIGH may state another)",
        "segments": "A segment is a position. Put the JSON beside it, or pass --map segment=item_i.",
        "automatic judges": "gpt_x",
        "excluded: is an attention check": "72",
        "rejected: is outside 0-100": "3",
    }
    frame = judged(scale=(1.0, 5.0), reading=reading("csv", **receipt))
    text = paperwork.methods(analysed(frame), resamples=20, seed=7).paragraphs[1]
    parts = ("9 read, 8 kept", "72 attention checks", "3 rows", "1 to 5", "gpt_x", "[scale that annotators saw")
    assert [part for part in parts if part not in text] == []
    assert "--" not in text


def test_answers_of_the_datasheet_are_the_data():
    frame = judged(reading=reading("esa"))
    few = frame[(frame["system"] != "C") | (frame["segment"].astype(int) < 20)].reset_index(drop=True)
    sheet = paperwork.datasheet(analysed(few, spans_of(few)))
    known = {row["number"]: row["known"] for row in sheet.rows}
    assert (known["2.4"], known["2.5"], known["4.3.4"]) == ("eng", "deu", "0 to 100.")
    assert numbers(known["3.1.1"])[:3] == [20, 30, 3]
    assert numbers(known["3.2.1"])[0] == 2
    assert numbers(known["4.3.3"])[0] == few["score"].nunique()
    for number in ("1.1.1", "1.3.1.1", "3.1.2", "3.2.2.1", "3.2.3", "3.3.1", "3.3.4.1", "4.3.2", "4.3.7", "5.1", "5.2"):
        assert known[number] == "", "no file tells this"
    assert set(known) == set(QUESTIONS)
    assert len(QUESTIONS) == 62, "as the template's form has"
    assert sum(sheet.counts) == len(sheet.rows)
    assert sheet.counts[2] == sum(not answer for answer in known.values())
    assert all(row["known"] or row["blank"] for row in sheet.rows)


def test_files_of_a_campaign_hold_its_datasheet_its_form_and_its_references():
    frame = judged(["a_b & $x$", "{never closed", "字"], reading=reading("mqm", weights=WEIGHTS))
    found = analysed(frame, spans_of(frame, "accuracy/omission"))
    sheet, told = paperwork.datasheet(found), paperwork.methods(found, resamples=20, seed=7)
    recorded = show.plain({"methods": told.recorded, "datasheet": sheet.recorded})
    files = paperwork.files(
        GOOD | {"study": "campaign", "recorded": recorded, "data": [{"name": "&", "source": "real"}]}
    )
    assert files["datasheet.md"].count("**To be filled in:**") == sum(bool(row["blank"]) for row in sheet.rows)
    assert files["datasheet.md"].count("- Known from the data:") == sum(bool(row["known"]) for row in sheet.rows)
    assert json.loads(files["heds.json"]) == form(recorded["datasheet"]["answers"])
    assert {*keys_of(files["methods.bib"])} == {*told.works}


def test_the_form_of_heds_gets_the_data_as_it_would_save_them():
    """Its fields hold values under "" or, in section 4, under the criterion; languages are options in its own order."""
    frame = pd.concat([judged(tgt_lang="hau", criterion=name) for name in ("<b>adequacy", "fluency")])
    fields = form(paperwork.datasheet(analysed(frame.reset_index(drop=True))).rows)
    held = {name: values["data"] for name, values in fields.items()}
    people = "heds-sample_evaluators_design-evaluators-number_of_evaluators"
    assert held[people] == {"": str(frame["annotator"].nunique())}
    languages = [name for name in held if "languages" in name]  # English is its 41st, Hausa its 61st
    assert languages == ["heds-system-input_languages-42", "heds-system-output_languages-62"]
    assert all(held[name] == {"": True} for name in languages)
    criteria = fields["heds-criteria-criterion"]["control"]
    assert criteria == {"&lt;b&gt;adequacy": True, "fluency": False}
    for name, values in held.items():
        assert set(values) <= (set(criteria) if name.startswith("heds-criteria-") else {""}), name
    assert not any("ethics" in name or "recruitment" in name for name in fields), "no file tells this"


# What a campaign's report claims is true of the pair, the people and the scale that it names.


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch, own_salt):
    """Keep results in a folder of their own."""
    monkeypatch.chdir(tmp_path)


def drawn(gaps=(10, 0), people=6, segments=60, favourites=0.0, noise=5.0):
    """Every annotator judges every segment of every system; gaps: points above the last one. favourites: their sd."""
    spread = {"annotator": 0.0, "taste": favourites, "residual": noise}
    sizes = {"systems": len(gaps), "documents": 1, "length": segments, "people": people}
    frame = ratings(**sizes, gap=gaps, spread=spread, step=1).drop(columns="item_type")
    return frame.assign(segment=frame["segment"].astype(int))


def imported(frame, *options):
    """Import a table as the command line does, and open what it wrote."""
    frame.to_csv("my.csv", index=False)
    arguments = ["import", "my.csv", "--out", "my.parquet", "--keep-names", *options]
    assert cli.main(arguments + ["--scale", "0:100"] * ("preference" not in frame)) == 0
    return data.open_campaign("my.parquet")


def report(frame, *options, **chosen):
    """What the report of an imported table says."""
    return page(*imported(frame, *options), **{"resamples": 20} | chosen)


def test_a_verdict_about_a_pair_comes_from_its_own_judgements_and_others_are_named():
    own, other = drawn(people=6), drawn(people=6, segments=40).assign(tgt_lang="fra")
    other["score"] = np.random.default_rng(3).integers(0, 101, len(other))  # nobody agrees there
    alone, both = report(own), report(pd.concat([own, other]), pair="eng-deu")
    assert both.headline == alone.headline, "another pair's judgements change nothing that is said of this one"
    assert both.trust == alone.trust
    assert both.verdicts["elsewhere"] == "problem"
    assert "eng-fra" in both.checks["elsewhere"].found
    assert both.checks["agreement"].found == alone.checks["agreement"].found


@pytest.mark.parametrize(("gaps", "favourites"), [((0.3, 0.0), 6.0), ((20, 0), 1.0)])
def test_a_result_holds_for_other_annotators_only_if_they_would_find_the_same_leader(gaps, favourites):
    frame = drawn(gaps, people=12, favourites=favourites)
    shown = report(frame, resamples=100)
    by_person = frame.pivot_table(index="annotator", columns="system", values="score")
    rng, wins = np.random.default_rng(2), []
    for _ in range(400):
        means = by_person.iloc[rng.integers(0, 12, 12)].mean()
        wins.append(means["S0"] > means["S1"])
    share = max(np.mean(wins), 1 - np.mean(wins))
    assert (shown.verdicts["others"] == "fine") == (share >= 0.95) == (gaps[0] == 20)
    if share < 0.95:
        told = re.search(r"first in (\d+) %", shown.checks["others"].found)
        assert int(told[1]) / 100 == pytest.approx(share, abs=0.12)


@pytest.mark.parametrize(("again", "verdict"), [(4, "not known"), (5, "fine")])
def test_steadiness_is_fine_only_where_half_of_the_annotators_show_it(again, verdict):
    frame = drawn(people=9).assign(item_type="system", hit="h1")
    shown = frame[frame["annotator"].isin([f"p{k}" for k in range(again)]) & (frame["segment"] < 12)]
    found = report(pd.concat([frame, shown.assign(item_type="repeat", hit="h2")]))
    assert found.verdicts["steady"] == verdict
    assert numbers(found.checks["steady"].found)[-3:] == [again * 24, again, 9]


@pytest.mark.parametrize(("several", "verdict"), [(4, "not known"), (5, "fine")])
def test_agreement_says_how_many_people_it_rests_on(several, verdict):
    """The first ``several`` of nine annotators share segments; each other one judges segments of their own."""
    frame = drawn(people=9)
    number = frame["annotator"].str[1:].astype(int)
    shared = frame[number.lt(several) & (frame["segment"] % 9 >= several % 9)]
    alone = frame[number.ge(several) & (frame["segment"] % 9 == number)]
    frame = pd.concat([shared, alone.assign(segment=1000 + np.arange(len(alone)))])
    found = report(frame)
    items = frame.groupby(["system", "segment"])["annotator"].nunique()
    assert found.verdicts["agreement"] == verdict
    rests = numbers(found.checks["agreement"].found.partition("rests on")[2])
    assert rests[:3] == [(items > 1).sum(), several, 9]


@pytest.mark.parametrize(
    ("options", "columns"),
    [
        (["--value", "annotator=Nobody in particular"], {}),
        ([], {"annotator": "Consensus"}),
    ],
    ids=["one row", "consensus"],
)
def test_of_annotators_whom_a_file_does_not_name_nothing_is_said(options, columns):
    means = drawn((20, 8, 0), people=4).groupby(["system", "doc", "segment", "src_lang", "tgt_lang"])["score"].mean()
    shown = report(means.reset_index().assign(**columns), *options)
    of_people = {"agreement", "steady", "others", "odd", "attention", "twice", "constant", "evenly"}
    assert not of_people & set(shown.checks)
    assert shown.verdicts["named"] == "not known"
    assert "S0 is better than each of the 2 other systems" in shown.headline


HUMANS = [
    *("WebNLG-2020-reference", "ref-A", "human_ref", "reference2"),
    *("refB", "Human-A.0", "human translation", "gold_reference"),
]
MACHINES = ["Refiner", "gpt-4-with-ref", "reference-free", "no-ref", "HumanMT", "prefs"]


def test_peoples_translations_are_recognised_by_name_unless_the_file_says_otherwise_and_take_no_place():
    frame = ratings(systems=[*HUMANS, *MACHINES], people=2, documents=2).drop(columns="item_type")
    judged, _ = imported(frame)
    kinds = judged.groupby("system")["item_type"].unique().explode()
    assert kinds.to_dict() == dict.fromkeys(HUMANS, "reference") | dict.fromkeys(MACHINES, "system")
    mine = campaign.from_ratings(judged)
    assert {*mine.humans} == {*HUMANS}
    assert {*campaign.rank_systems(mine, resamples=50).names} == {*MACHINES}
    assert imported(frame, "--value", "item_type=system")[0]["item_type"].eq("system").all()


def test_what_was_judged_is_never_called_nothing_for_want_of_draws():
    """Where few people judged a system, some draws of people leave it with nothing: then texts are drawn."""
    frame = drawn((20, 8, 0, 30), people=24).replace({"S3": "refA"})
    number = frame["annotator"].str[1:].astype(int)
    own = {"S0": number < 10, "S1": number < 10, "S2": number.between(10, 13), "refA": number >= 14}
    frame = frame[np.select([frame["system"].eq(name) for name in own], [*own.values()]).astype(bool)]
    mine = campaign.from_ratings(imported(frame)[0])
    assert mine.humans == ("refA",)
    for seed in range(6):
        assert campaign.rank_systems(mine, resamples=40, seed=seed).names == ["S0", "S1", "S2"], seed


@given(st.integers(0, 10**6), st.floats(0, 4))
@settings(max_examples=25)
def test_removal_is_seen_where_it_happened_and_hardly_ever_elsewhere(seed, strength):
    """Annotators whose tests are equally sharp, up to four standard errors; oracle: scipy's binomial test."""
    rng = np.random.default_rng(seed)
    p = stats.norm.sf(rng.normal(strength, 1, 2000))
    found, cut = annotators.removed(p), annotators.removed(p[p < 0.05])
    near = found.passed + found.failed
    expected = stats.binomtest(found.failed, near, 0.25, alternative="less").pvalue if near else 1.0
    assert found.p == pytest.approx(expected)
    assert found.p > quality.SURE
    assert cut.failed == 0
    assert (cut.p < quality.SURE) == (0.75**cut.passed < quality.SURE)


# Feedback: a page for each annotator


def with_texts(people=("Ann", "Bob", "Cy", "Di"), odd=-60):
    """Judgements of everybody on everything; Ann, who is lenient by 10, is far off on one output."""
    rng, rows = np.random.default_rng(3), []
    for item in range(24):
        for name in people:
            score = 60 + rng.normal(0, 3) + 10 * (name == "Ann") + odd * (name == "Ann" and item == 5)
            text = {"source": f"source {item}", "hypothesis": f"<b>out</b> {item}"}
            rows.append({"annotator": name, "system": "mt", "segment": item, "score": score} | text)
    return pd.DataFrame(rows)


def told_of(frame, folder, *words):
    """Import a table, export feedback, and return the files by the annotator's name."""
    frame.to_csv(folder / "my.csv", index=False)
    assert cli.main(["import", str(folder / "my.csv"), "--keep-names", "--scale", "0:100", *words]) == 0
    assert cli.main(["export", "campaign.parquet", "--annotators", "--out", "feedback"]) == 0
    return {path.stem: path.read_text(encoding="utf-8") for path in (folder / "feedback").glob("*.html")}


def test_annotators_are_told_of_their_own_judgements_and_of_nobody_else_s(tmp_path):
    frame = with_texts()
    pages = told_of(frame, tmp_path)
    assert set(pages) == set(frame["annotator"])
    for name, text in pages.items():
        assert not [other for other in pages if other != name and re.search(rf"\b{other}\b", text)]
        assert "<b>out" not in text
        assert "http" not in text.replace("http-equiv", "")
        own = frame.loc[frame["annotator"] == name, "score"]
        medians = frame[frame["annotator"] != name].groupby("annotator")["score"].mean().median()
        assert f'<th scope="row">mean score</th><td>{own.mean():.2f}</td><td>{medians:.2f}</td>' in text
    scores = frame.pivot(index="segment", columns="annotator", values="score")
    gap = scores["Ann"] - scores.drop(columns="Ann").mean(axis=1)
    [found] = campaign.give_feedback(data.open_campaign("campaign.parquet")[0])["Ann"]
    assert found.again["segment"].tolist() == ["5"]
    assert found.again["apart"].tolist() == pytest.approx([gap[5] - gap.mean()])
    assert "source 5" in pages["Ann"]
    assert "&lt;b&gt;out&lt;/b&gt; 5" in pages["Ann"]
    told_of(frame[frame["annotator"].ne("Di")], tmp_path, "--replace")
    few = campaign.give_feedback(data.open_campaign("campaign.parquet")[0])
    assert all(one.habits["others"].isna().all() for own in few.values() for one in own), "two others are no median"


@pytest.mark.parametrize(
    ("source", "words"), [("campaign.parquet", ()), ("r.json", ("--annotators",)), ("none.parquet", ("--annotators",))]
)
def test_feedback_asks_for_a_campaign_and_a_paper_for_a_report(source, words, tmp_path, capsys):
    assert cli.main(["export", source, *words, "--out", "x"]) == 1
    assert "evalkit: " in capsys.readouterr().err
    assert not (tmp_path / "x").exists()
