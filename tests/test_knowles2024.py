"""Knowles & Lo 2024: its numbers and claims have one row each, and what is built for them is right."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from evalkit import ROOT, data
from evalkit.human import annotators as people
from evalkit.human import normalization, planning
from evalkit.papers import knowles2024, shared_tasks
from evalkit.stats import agreement, verdicts

LISTS = ("knowles2024_prose", "knowles2024_context")
#: Numbers in the sections that report findings which are no finding themselves: a pattern, and why it has no claim.
NO_FINDING = {
    r"WMT\s20\d\d-20\d\d|\b2022 data|\beng\w{3}\d+": "years and names of annotators",
    r"Reference [^)]*?\d{4}[a-z]?|p\. 220": "citations",
    r"(Sections?|Tables?|Figures?|WMT|Footnote)\s\d+(\.\d)?|(^|\n)\d(\.\d)?\.\s": "names of parts",
    r"https?://\S+|version 3\.6\.2|SciPy version 1\.10\.0|ttest_1samp": "addresses and programs",
    r"0[–-]100|from 0 to 100|seven equidistant|0–6|ticks? at 0, 16\.7.*?75, and 100": "the scale and its ticks",
    r"1-point difference may be just 6 pixels|25-point difference": "other people's numbers",
    r"first 10 segments of the document and another snippet to sample 10|as short as 10 segments": "imagined examples",
    r"three interconnected|three areas|three (simple )?approaches|latter two|five types": "counts of words",
    r"comparison between two annotators|two groups of other|into two categories": "counts of words",
    r"standard deviation of 1|around a mean of 0|one or two discrete|\\mu _\d, \\sigma _\d": "definitions",
}


@pytest.fixture(scope="module")
def claimed():
    return pd.concat([data.published(name).fillna("") for name in LISTS], ignore_index=True)


def findings(text):
    """Cut the sections that report findings, and the footnotes, out of the paper."""
    start, end = text.index("\n3.6. Calibration HITs at WMT 2022\n"), text.index("\n6. Conclusions\n")
    notes = text[text.index("\na Using the five types") : text.index("\nReferences\n")]
    return text[start + 1 : end] + "\n" + notes


def blanked(text, pattern):
    return re.sub(pattern, lambda found: " " * len(found.group()), text)


def test_every_number_of_a_finding_stands_in_the_quote_of_a_claim(paper, claimed):
    text = findings(paper("001"))
    left = text
    for pattern in NO_FINDING:
        assert blanked(left, pattern) != left, f"{pattern} leaves nothing out"
        left = blanked(left, pattern)
    for quote in claimed["quote"].unique():
        assert quote in text, quote
        for found in re.finditer(re.escape(quote), text):
            left = left[: found.start()] + " " * len(quote) + left[found.end() :]
    spelled = "two|three|four|five|six|seven|eight|nine|ten"
    unclaimed = [left[max(0, m.start() - 60) : m.end() + 40] for m in re.finditer(rf"\d[\d.,]*|\b({spelled})\b", left)]
    assert unclaimed == []


def test_every_number_of_a_quote_is_printed_in_a_claim_with_that_quote(claimed):
    """Names, conditions of a claim and what a condition says in words count; no other number may be passed over."""
    for quote, rows in claimed.groupby("quote"):
        told = " ".join(rows["printed"] + " " + rows["cell"] + " " + rows["where"] + " " + rows["column"])
        bare = re.sub(
            r"eng\w{3}\d+|en_\w+|fr_\w+|doc0\S*|#\S+|\b20(1\d|2[0-4])\b|\$x\$|0–6|\(\d+–\d+\)|20-\S+", " ", quote
        )
        for number in re.findall(r"(?<![\w.–])\d+(?:\.\d+)?", bare):
            assert re.search(rf"(?<![\d.]){re.escape(number)}(?![\d])", told), (number, quote)


def test_each_claim_belongs_to_one_study_that_holds_no_others(claimed):
    notebooks = {path.stem: json.loads(path.read_text()) for path in (ROOT / "notebooks" / "studies").glob("*.ipynb")}
    source = {name: "".join("".join(cell["source"]) for cell in book["cells"]) for name, book in notebooks.items()}
    for name in LISTS:
        own = set(data.published(name)["study"])
        users = {study for study, text in source.items() if f'data.published("{name}")' in text}
        assert users == own
        for study in own if len(own) > 1 else ():
            assert f'printed[printed["study"] == "{study}"]' in source[study]
    assert not claimed.duplicated(["item", "cell"]).any()


def test_what_is_not_computed_says_why_in_the_same_words(claimed):
    bare = claimed[claimed["table"] == ""]
    assert set(bare["lacking"]) == {"printed in a picture"}
    assert set(claimed.loc[claimed["table"] != "", "lacking"]) == {""}


def test_a_claim_on_files_that_nobody_here_has_seen_says_so(claimed):
    unseen = claimed["table"].str.match("wmt22-da-sqm|wmt18-20|wmt19-20")
    assert claimed.loc[unseen, "remark"].ne("").all(), "a difference without a note would stop a reader's run"


def test_two_claims_that_fail_are_counted(real):
    """Oracle: plain pandas on the calibration HITs, all of whose 17 annotators of eng-jpn are kept."""
    ratings = real("wmt22-calibration-hits")
    accounts = people.accounts(ratings, real("wmt22-calibration-mapping"), complete_at=100)
    kept = people.keep(ratings, accounts)
    japanese = kept[kept["tgt_lang"] == "jpn"].groupby("annotator")["score"]
    distinct, spread = japanese.nunique().drop("engjpn1614"), japanese.std()
    assert (len(distinct), (distinct >= 40).sum()) == (16, 3)
    assert spread.rank()["engjpn1611"] == 6
    beside = knowles2024.beside(people.usage(kept), "engjpn1611").set_index("annotator")
    expected = (spread - spread["engjpn1611"]).drop("engjpn1611")
    pd.testing.assert_series_equal(beside["sd_above"], expected, check_names=False)


def test_who_has_the_lowest_correlation_is_explained_by_either_of_the_two():
    extremes = pd.DataFrame({"pair": "p", "statistic": ["r", "s", "t"], "min_between": ["a b", "c b", "c d"]})
    profiles = pd.DataFrame({"pair": "p", "annotator": list("abcd"), "min": [52.0, 0, 50, 10], "grid": ["none"] * 4})
    table = knowles2024.lowest_between(extremes, profiles.assign(grid=["none", "none", "none", "7"]))
    assert table[["high_only", "coarse", "explained"]].to_numpy().tolist() == [
        [True, False, True],
        [False, False, False],
        [False, True, True],
    ]


def made_up(seed, *, documents=12, length=8, people=8, spread=15.0, noise=4.0):
    """Calibration items whose documents differ by ``spread`` points, annotators by level and gain."""
    rng = np.random.default_rng(seed)
    rows = []
    levels, gains = rng.normal(0, 12, people), rng.uniform(0.5, 1.5, people)
    for d in range(documents):
        quality = rng.normal(0, spread)
        for s in range(length):
            item = quality + rng.normal(0, 5)
            for a in range(people):
                score = 50 + levels[a] + gains[a] * (item + rng.normal(0, noise))
                rows.append((f"a{a}", f"d{d}", str(s), float(np.clip(score, 0, 100))))
    table = pd.DataFrame(rows, columns=["annotator", "doc", "segment", "score"])
    table = table.assign(src_lang="eng", tgt_lang="jpn", system="S", item_type="calibration")
    table.attrs |= {"scale": (0, 100), "source": {"name": "d", "source": "real", "origin": "o", "digest": "git:0"}}
    return table


def test_a_common_set_is_worth_more_where_documents_differ_and_nothing_where_they_are_alike():
    unlike = normalization.common_or_own(made_up(1, spread=25), splits=60).iloc[0]
    assert unlike["documents"] == 3
    assert unlike["low"] > 0.02
    alike = [normalization.common_or_own(made_up(seed, spread=0.0), splits=60)["gain"].iloc[0] for seed in range(6)]
    assert abs(np.mean(alike)) < 0.01


def test_agreement_from_a_common_set_is_that_of_scores_put_on_it_by_hand():
    """Oracle: the same splits, z and ICC(A,1) one by one, by plain pandas and the agreement room."""
    table = made_up(3, documents=8, people=5)
    found = normalization.common_or_own(table, splits=1, seed=4).iloc[0]
    wide = table.pivot(index=["doc", "segment"], columns="annotator", values="score")
    document = wide.index.get_level_values("doc").to_numpy()
    icc = {}
    for chosen in (c for c in np.array(np.meshgrid(*[[0, 1]] * 8)).T.reshape(-1, 8) if c.sum() == 4):
        held = ~np.isin(document, [f"d{k}" for k in np.flatnonzero(chosen)])
        icc[tuple(chosen)] = plain_icc(wide[held])
    assert min(abs(value - found["raw"]) for value in icc.values()) < 1e-9


def plain_icc(wide):
    """ICC(A,1) of McGraw & Wong 1996 from the two-way mean squares."""
    n, k = wide.shape
    y = wide.to_numpy()
    rows, columns = n - 1, k - 1
    msr = k * y.mean(1).var(ddof=1)
    msc = n * y.mean(0).var(ddof=1)
    rest = y - y.mean(1, keepdims=True) - y.mean(0) + y.mean()
    mse = (rest**2).sum() / (rows * columns)
    return (msr - mse) / (msr + columns * mse + k / n * (msc - mse))


def test_work_worth_a_set_of_100_is_as_sure_as_the_set_in_simulation():
    parts = {"pair": ["p"], "document": [30.0], "item": [50.0], "annotator": [0.0], "block": [12.0], "residual": [80.0]}
    table = pd.DataFrame(parts | {"block_length": [10.0]})
    [work] = planning.equal_work(table)["judgements"]
    assert work == np.ceil(100 * (1 + (10 * 30 + 50) / (10 * 12 + 80)))
    rng = np.random.default_rng(1)
    sizes = {"own": work // 10 * 10, "set": 100}
    errors = {}
    for way, size in sizes.items():
        blocks = (3000, size // 10)
        noise = rng.normal(0, np.sqrt(80), (*blocks, 10)).mean(2) + rng.normal(0, np.sqrt(12), blocks)
        if way == "own":  # on the set, all judge the same, and what the texts are cancels
            noise += rng.normal(0, np.sqrt(30), blocks) + rng.normal(0, np.sqrt(50), (*blocks, 10)).mean(2)
        errors[way] = noise.mean(1).std() * np.sqrt(size / (work if way == "own" else 100))
    assert errors["own"] == pytest.approx(errors["set"], rel=0.05)


@pytest.mark.parametrize(("year", "scale", "equal"), [(21, "z", 80), (22, "z", 68), (21, "raw", 77), (22, "raw", 58)])
def test_official_scores_are_rows_and_each_difference_has_its_reason(year, scale, equal, real):
    ratings, official = real(f"wmt{year}-mturk"), real(f"wmt{year}-mturk-ranking")
    rows = shared_tasks.compare_scores(ratings, official, scale=scale, paper=f"WMT{year}, official ranking")
    judged = pd.DataFrame(verdicts.judge(rows))
    assert len(judged) == len(official)
    assert (judged["verdict"] == "match").sum() == equal
    assert judged.loc[judged["verdict"] == "differs", "note"].str.contains("with 0 for these the score becomes").all()
    absent = rows[judged["verdict"] == "not reproducible"]
    assert set(absent["lacking"]) == ({"scores not here: WMT21 zho-eng"} if year == 21 else set())
    assert judged.set_index(["item", "cell"]).index.is_unique


def test_extremes_of_the_real_correlations_have_the_oddities_that_the_paper_names(real):
    ratings = real("wmt22-calibration-hits")
    kept = people.keep(ratings, people.accounts(ratings, real("wmt22-calibration-mapping"), complete_at=100))
    japanese = kept[kept["tgt_lang"] == "jpn"]
    extremes = agreement.correlation_extremes(agreement.correlations(japanese))
    table = knowles2024.lowest_between(extremes, people.profiles(japanese)).set_index("statistic")
    assert table.loc[["spearman", "pearson", "kendall_c"], "explained"].all()
