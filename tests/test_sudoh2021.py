"""Sudoh et al. 2021: labels, agreement, print and its audit, and the rules that make one label of three."""

import itertools
from collections import Counter

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from evalkit import DataError
from evalkit.data import direct as files
from evalkit.papers.sudoh2021 import labels as assessed
from evalkit.papers.sudoh2021 import printed as print_of
from evalkit.papers.sudoh2021 import reduction
from evalkit.papers.sudoh2021.labels import KEY, categories, places
from tests.makers import read

# --- Critical-error labels: TAXONOMIES, matching, shares, assessments by label, contrasts, agreement of pairs, print


SUDOH = "004"


def made(n=400, *, sentences=None, people="AB", dimension="adequacy", seed=0):
    """Draw labelled translations whose sentences recur, with scores that depend on label and sentence."""
    rng = np.random.default_rng(seed)
    names = np.array(assessed.categories(dimension))
    sentence = rng.integers(0, sentences or n, n)
    common = {"src_lang": np.where(np.arange(n) % 2, "ces", "deu"), "segment": np.arange(1, n + 1).astype(str)}
    common["reference"] = np.char.add("sentence ", sentence.astype(str))
    frames = []
    for who in people:
        label = rng.integers(0, len(names), n)
        z = 0.3 * label + rng.normal(0, 0.3, n) + 0.4 * rng.normal(size=(sentences or n))[sentence]
        frames.append(pd.DataFrame(common | {"annotator": who, "label": names[label], "z": z}))
    told = {"tgt_lang": "eng", "doc": "newstest2016", "dimension": dimension, "hypothesis": "x", "split": "train"}
    return pd.concat(frames, ignore_index=True).assign(**told)


def judged(rows):
    """Make labels from (segment, annotator, code)."""
    frame = pd.DataFrame(rows, columns=["segment", "annotator", "label"]).astype("str")
    return frame.assign(src_lang="ces", tgt_lang="eng", doc="newstest2016", dimension="adequacy")


def texts(n):
    frame = pd.DataFrame({"segment": [str(i) for i in range(1, n + 1)]})
    frame = frame.assign(src_lang="ces", tgt_lang="eng", doc="newstest2016", split="train", hypothesis="a")
    return frame.assign(reference="b", z=np.linspace(-1, 1, n))


# The taxonomy


def test_explanations_and_codes_are_the_papers(paper):
    lines = [line.replace("<i>", "").replace("</i>", "") for line in paper(SUDOH).splitlines()]
    for table in assessed.TAXONOMIES.values():
        for row in table.itertuples():
            assert f"{row.category} ({row.code})\t{row.explanation}" in lines


def test_the_order_of_severity_is_that_of_footnote_14(paper):
    text = paper(SUDOH).replace("*", "")
    for dimension in ("fluency", "adequacy"):
        assert f"{' < '.join(assessed.categories(dimension, order='severity'))} for {dimension}" in text


def test_codes_are_those_of_the_files_and_print_order_is_theirs():
    for dimension, known in files.LABELS.items():
        assert "".join(assessed.places(dimension, order="print")) == known
        assert sorted(assessed.places(dimension).values()) == list(range(1, len(known) + 1))
    assert not assessed.TAXONOMIES["fluency"]["critical"].any()


# Labels beside translations


THREE = judged([(i, "A", "S") for i in (1, 2, 3)])


def test_rows_of_all_test_sets_fit_their_scores_and_one_row_off_they_do_not(real):
    labels = pd.concat([real("sudoh-labels"), real("sudoh-labels-wmt17")])
    labelled = assessed.joined(labels, real("sudoh-translations"))
    place = {name: float(number) for number, name in enumerate(assessed.categories("adequacy"), 1)}
    part = labelled[labelled["dimension"] == "adequacy"]
    means = part.assign(place=part["label"].map(place)).groupby(assessed.KEY)[["place", "z"]].mean().reset_index()
    means = means.sort_values("segment", key=lambda lines: lines.astype(int), kind="stable")
    sets = [some for _, some in means.groupby(assessed.KEY[:3])]
    assert len(sets) == 17
    for some in sets:
        assert stats.spearmanr(some["place"], some["z"]).statistic > 0.7
        assert abs(stats.spearmanr(np.roll(some["place"], 1), some["z"]).statistic) < 0.15


# Shares


def test_intervals_of_shares_are_statsmodels_wilson_and_widen_when_sentences_recur_with_their_labels():
    once = made(200)
    once["reference"] = once["segment"]
    once = once[once["label"] != "Unrelated"]
    found = assessed.shares(once)
    for row in found.itertuples():
        low, high = proportion_confint(row.count, row.n, method="wilson")
        assert (row.low, row.high) == pytest.approx((low, high), abs=1e-12)
    assert np.allclose(found.groupby("annotator")["share"].sum(), 1)
    assert (found[found["label"] == "Unrelated"]["share"] == 0).all(), "a label that nobody gave has a row"
    twice = pd.concat([once, once.assign(doc="newstest2015")])
    plain = assessed.shares(pd.concat([once, once.assign(doc="newstest2015", reference=once["reference"] + "'")]))
    wide = assessed.shares(twice)
    common = plain["count"] > 0
    assert (wide["high"] - wide["low"])[common].gt((plain["high"] - plain["low"])[common]).all()


# Assessments by label, and contrasts


def clustered(part, formula, label, against):
    """Fit a contrast with statsmodels, errors clustered by sentence without its correction for parameters."""
    groups = pd.factorize(part["reference"])[0]
    options = {"groups": groups, "use_correction": False}
    fitted = smf.ols(formula, part).fit(cov_type="cluster", cov_kwds=options)
    prefix = f"C(label, Treatment('{against}'))[T.{label}]"
    size = groups.max() + 1
    return fitted.params[prefix], fitted.bse[prefix] * np.sqrt(size / (size - 1))


def test_means_by_label_have_deviations_that_divide_by_n_and_intervals_by_sentences():
    part = made(240, sentences=60, people="A")
    part = part[part["label"] != "Unrelated"]
    found = assessed.da_by_label(part).set_index("label")
    groups = {"groups": pd.factorize(part["reference"])[0], "use_correction": False}
    fitted = smf.ols("z ~ 0 + label", part).fit(cov_type="cluster", cov_kwds=groups)
    size = part["reference"].nunique()
    for label, own in part.groupby("label"):
        mean, df = own["z"].sum() / len(own), own["reference"].nunique() - 1
        sd = np.sqrt(((own["z"] - mean) ** 2).sum() / len(own))
        half = fitted.bse[f"label[{label}]"] * np.sqrt(size / (size - 1)) * stats.t.ppf(0.975, df)
        row = found.loc[label, ["mean", "sd", "n", "of", "low", "high"]]
        assert row.tolist() == pytest.approx([mean, sd, len(own), len(part), mean - half, mean + half])
    assert found.loc["Unrelated", ["mean", "n"]].fillna(-9).tolist() == [-9, 0]


MODELS = [("all rows", ""), ("same test set", " + C(src_lang)"), ("same sentence", " + C(reference)")]


@pytest.mark.parametrize(("model", "more"), MODELS)
def test_contrasts_are_statsmodels_regressions_with_clustered_errors(model, more):
    part = made(240, sentences=60, people="A")
    found = assessed.contrasts(part, models=[model]).set_index(["label", "against"])
    for label, against in assessed.FINDING:
        formula = f"z ~ C(label, Treatment('{against}')){more}"
        difference, error = clustered(part, formula, label, against)
        row = found.loc[(label, against)]
        assert row["difference"] == pytest.approx(difference, abs=1e-9)
        assert row["difference"] / row["t"] == pytest.approx(error, rel=1e-6)
        assert row["p"] == pytest.approx(2 * stats.t.sf(abs(row["t"]), row["df"]))


def test_a_label_that_hardly_occurs_leaves_a_gap_and_no_p_value_counts_for_it():
    part = made(200, people="A")
    part = part[part["label"] != "Unrelated"]
    found = assessed.contrasts(part, models=["all rows"]).set_index(["label", "against"])
    assert np.isnan(found.loc[("Serious", "Unrelated"), "p"])
    known = found["p"].notna()
    assert known.sum() == 2
    assert found.loc[known, "p_holm"].max() <= 2 * found.loc[known, "p"].max()


# Pairs of annotators


def test_shared_rows_are_those_that_all_annotators_labelled():
    rows = [(i, who, "SF"[i % 2]) for i in range(1, 9) for who in "AB"] + [(i, "C", "SF"[i % 2]) for i in range(1, 5)]
    labels = judged(rows)
    assert assessed.pairwise(labels, resamples=10)["n"].tolist() == [8, 4, 4]
    assert assessed.pairwise(labels, resamples=10, shared=True)["n"].tolist() == [4, 4, 4]
    found = assessed.confusion_between(labels[1:]).query("pair == 'A-B'").set_index(["first", "second"])
    assert found.loc[("Excellent", "Excellent"), ["count", "share"]].tolist() == [4, 1]
    assert np.isnan(found.loc[("Unrelated", "Fair"), "share"]), "nobody gave the first label"


# Print


def test_what_is_not_known_or_does_not_fit_is_refused():
    with pytest.raises(DataError, match="a label without a translation"):
        assessed.joined(THREE, texts(2))


# --- The audit of printed tables, agreement of three annotators, and Table 1 as a challenge set


def drawn_tables(seed):
    """Print tables, rounded as the paper rounds, of labels that were drawn: nothing in them contradicts itself."""
    rng = np.random.default_rng(seed)
    tables, pairs, z = {}, [], rng.normal(0, 0.5, 9280)
    for dimension, (shares, means) in {"fluency": (4, 6), "adequacy": (5, 7)}.items():
        names, size = categories(dimension), len(categories(dimension))
        given = {p: np.clip((z * 2 + rng.normal(size / 2, 1, 9280)).astype(int), 0, size - 1) for p in "ABC"}
        counts = {p: np.bincount(g, minlength=size) / 9280 for p, g in given.items()}
        counts["average"] = sum(counts.values()) / 3
        told = [(n, p, f"{c[k]:.3f}") for k, n in enumerate(names) for p, c in counts.items()]
        tables[shares] = pd.DataFrame(told, columns=["label", "annotator", "share"])
        moments = [(n, p, z[g == k]) for k, n in enumerate(names) for p, g in given.items()]
        told = [(n, p, f"{v.mean() if len(v) else 0:.3f}", f"{v.std() if len(v) else 0:.3f}") for n, p, v in moments]
        tables[means] = pd.DataFrame(told, columns=["label", "annotator", "mean", "sd"])
        for a, b in ("AB", "AC", "BC"):
            r, chance = (given[a] == given[b]).mean(), float(counts[a] @ counts[b])
            for name, value in (("kappa", (r - chance) / (1 - chance)), ("concordance", r)):
                pairs.append((dimension, name, f"{a}-{b}", f"{value:.4f}"))
    tables[8] = pd.DataFrame(pairs, columns=["dimension", "statistic", "pair", "value"])
    return tables


@pytest.mark.parametrize("seed", range(8))
def test_rounding_alone_raises_no_alarm(seed):
    tables = drawn_tables(seed)
    for dimension in ("fluency", "adequacy"):
        assert not list(print_of._shares(tables, dimension))
        assert not list(print_of._kappas(tables, dimension))
    assert print_of.overall(tables)["same"].all()


def long(wide, dimension):
    table = pd.DataFrame(wide, columns=list("ABC")).rename_axis("segment").reset_index().astype(str)
    rows = table.melt("segment", var_name="annotator", value_name="label")
    return rows.assign(src_lang="deu", tgt_lang="eng", doc="d", dimension=dimension)


def test_agreement_on_criticality_survives_groups_with_one_answer():
    codes = np.array([["S", "S", "A"], ["A", "A", "B"], ["B", "S", "S"]])
    other = np.array([["C", "S", "F"], ["O", "C", "F"], ["B", "B", "B"]])
    given_labels = pd.concat([long(codes, "adequacy"), long(other, "adequacy").assign(src_lang="fin")])
    table = assessed.on_criticality(given_labels, by="src_lang", resamples=20)
    found = table.set_index(["group", "coefficient"])["estimate"]
    assert np.isnan(found["deu", "Fleiss' kappa"])
    # three items of three: agreeing pairs 1, 3 and 3 of 3
    assert found["fin", "percent agreement"] == pytest.approx((1 / 3 + 1 + 1) / 3)
    with pytest.raises(DataError, match="two annotators"):
        assessed.overall(given_labels[given_labels["annotator"] == "A"])


def test_a_metric_is_preferred_only_where_the_harmless_text_scores_higher():
    table = read("""
        id reference hypothesis harmless phenomenon mine
        1 r a yes p 0.5
        2 r b no q 0.5
        3 r c no q 0.7
        4 r d yes p 0.6
        5 r e no q 0.1""")
    assert print_of.preferred(table, metrics=["mine"])["preferred"].tolist() == ["tie", "no", "yes"]


# --- Three labels to one: every rule against a plain one, bounds against hidden labels, and the released files


DIMENSIONS = ["fluency", "adequacy"]


def labelled(triples, dimension, *, missing=()):
    rows = [
        ("deu", "eng", "d", str(n), person, code, dimension)
        for n, triple in enumerate(triples)
        for person, code in zip("ABC", triple)
        if not (person == "C" and n in missing)
    ]
    return pd.DataFrame(rows, columns=[*KEY, "annotator", "label", "dimension"])


def drawn(dimension, *, rows, seed):
    codes = list(places(dimension))
    rng = np.random.default_rng(seed)
    centre = rng.integers(0, len(codes), rows)[:, None]
    picks = np.clip(centre + rng.integers(-2, 3, (rows, 3)), 0, len(codes) - 1)
    return [tuple(codes[pick] for pick in row) for row in picks]


def plain(triple, rule, dimension):
    """Apply a rule to one triple of codes, as the words say it."""
    name, _, printed = rule.partition(" (")
    place = places(dimension, order="print" if printed else "severity")
    in_order = sorted(triple, key=place.get)
    if name in "ABC":
        return triple["ABC".index(name)]
    if not name.startswith("majority"):
        return in_order[["worst", "median", "best"].index(name)]
    label, count = Counter(triple).most_common(1)[0]
    if count > 1:
        return label
    otherwise = name.removeprefix("majority-else-")
    return triple["ABC".index(otherwise)] if otherwise in "ABC" else in_order[0 if otherwise == "worst" else 2]


@pytest.mark.parametrize("dimension", DIMENSIONS)
@pytest.mark.parametrize("rule", reduction.RULES)
def test_every_rule_does_what_its_words_say_to_every_triple(rule, dimension):
    triples = list(itertools.product(places(dimension), repeat=3))
    found = reduction.reduce(labelled(triples, dimension), rule=rule, dimension=dimension)
    got = dict(zip(found["segment"], found["label"], strict=True))
    assert [got[str(n)] for n in range(len(triples))] == [plain(triple, rule, dimension) for triple in triples]


def test_any_third_label_counts_where_none_makes_the_agreed_one_the_worst():
    three_labels = labelled([("S", "S", "S"), ("F", "F", "F"), ("S", "B", "F")], "fluency", missing={1, 2})
    agreed = pd.DataFrame({"segment": list("012"), "label": list("SSF"), "dimension": "fluency"})
    agreed = agreed.assign(src_lang="deu", tgt_lang="eng", doc="d")
    one = reduction.release(three_labels, agreed, agreed[KEY].assign(split="test"), dimension="fluency")
    assert one.possible("C").sum(axis=1).tolist() == [1, 5, 1]


@pytest.mark.parametrize("seed", range(2))
def test_the_smallest_difference_is_that_of_trying_all_third_labels(seed):
    triples, hidden = drawn("fluency", rows=9, seed=seed), (6, 7, 8)
    three_labels = labelled(triples, "fluency", missing=set(hidden))
    agreed = reduction.reduce(labelled(triples, "fluency"), rule="worst", dimension="fluency")
    agreed["dimension"] = "fluency"
    translations = agreed[KEY].assign(split="test")
    names = categories("fluency")
    target = dict(zip(names, np.random.default_rng(seed).multinomial(9, [0.2] * 5).tolist(), strict=True))
    printed = pd.DataFrame({"label": names, "split": "test", "count": [str(target[name]) for name in names]})
    one = reduction.release(three_labels, agreed, translations, dimension="fluency")
    found = reduction.fit_to_counts(one, printed).set_index("rule")["cells_difference"]
    codes = list(places("fluency"))
    rules = ["median", "majority-else-worst", "C"]
    best = dict.fromkeys(rules, 99)
    for thirds in itertools.product(codes, repeat=3):
        tried = [(*triples[n][:2], third) for n, third in zip(hidden, thirds)]
        if any(plain(a, "worst", "fluency") != plain(triples[n], "worst", "fluency") for a, n in zip(tried, hidden)):
            continue
        for rule in rules:
            counts = Counter(plain(triple, rule, "fluency") for triple in [*triples[:6], *tried])
            apart = sum(abs(counts[code] - target[name]) for code, name in zip(codes, names))
            best[rule] = min(best[rule], apart)
    assert found[rules].to_dict() == best


@pytest.mark.parametrize(
    ("people", "rule", "message"), [("AB", "worst", "three annotators"), ("ABC", "vote", "rule='vote'")]
)
def test_labels_that_cannot_be_reduced_are_refused(people, rule, message):
    given = labelled([("S", "A", "B"), ("F", "F", "D")], "fluency")
    given = given[given["annotator"].isin([*people])]
    with pytest.raises(DataError, match=message):
        reduction.reduce(given, rule=rule, dimension="fluency")
