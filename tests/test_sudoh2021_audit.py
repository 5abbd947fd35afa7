"""The audit of printed tables, agreement of three annotators, and Table 1 as a challenge set."""

import krippendorff
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

from evalkit import DataError, data, show
from evalkit.papers import claims
from evalkit.papers.sudoh2021 import labels
from evalkit.papers.sudoh2021 import printed as print_of
from evalkit.papers.sudoh2021.labels import categories, places
from tests.makers import read

NUMBERS = (1, *range(4, 15))


@pytest.fixture
def printed():
    return {number: data.published(f"sudoh2021_table{number}") for number in NUMBERS}


MISPRINTS = [
    *("Table 1: hyp8, bleu", "Table 1: hyp9, bleu", "Table 11: row Poor", "Table 5: B, Excellent"),
    *("Table 6: B, Incomprehensible", "Table 6: B, Poor", "Table 8: A-C, kappa", "Table 8: adequacy, A-C"),
    *("Table 8: adequacy, B-C", "Table 8: fluency, A-B"),
    *("section 5.2: distant errors in fluency", "section 5.2: predicted Excellent in adequacy"),
]


def test_the_paper_contradicts_itself_in_these_cells(printed):
    found = print_of.misprints(printed)
    assert sorted(found["table"] + ": " + found["cell"]) == sorted(MISPRINTS)
    evidence = found.set_index("cell")["evidence"]
    assert "leaves 0.055" in evidence["B, Excellent"]
    assert "3,926" in evidence["row Poor"]
    assert "Incomprehensible → Excellent (1) in place of Fair (22)" in evidence["distant errors in fluency"]


def drawn_tables(seed):
    """Print tables, rounded as the paper rounds, of labels that were drawn: nothing in them contradicts itself."""
    rng = np.random.default_rng(seed)
    tables, pairs, z = {}, [], rng.normal(0, 0.5, 9280)
    for dimension, (shares, means, scores, matrix) in {"fluency": (4, 6, 12, 11), "adequacy": (5, 7, 14, 13)}.items():
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
        cells = rng.integers(1, 200, (size, size))
        cells[0, 0] += 3920 - cells.sum() if cells.sum() <= 3920 else 0
        square = [(t, p, str(cells[i, j])) for i, t in enumerate(names) for j, p in enumerate(names)]
        tables[matrix] = pd.DataFrame(square, columns=["true", "predicted", "count"])
        hits, columns, lines = np.diag(cells), cells.sum(axis=0), cells.sum(axis=1)
        found = np.column_stack([hits / columns, hits / lines, 2 * hits / (columns + lines)])
        found = np.vstack([found, found.mean(axis=0)])
        rows = [(n, *(f"{v:.3f}" for v in row)) for n, row in zip([*names, "average"], found)]
        tables[scores] = pd.DataFrame(rows, columns=["label", "precision", "recall", "f1"])
    tables[8] = pd.DataFrame(pairs, columns=["dimension", "statistic", "pair", "value"])
    return tables


@pytest.mark.parametrize("seed", range(8))
def test_rounding_alone_raises_no_alarm(seed):
    tables = drawn_tables(seed)
    for dimension in ("fluency", "adequacy"):
        assert not list(print_of._shares(tables, dimension))
        assert not list(print_of._kappas(tables, dimension))
    assert print_of.overall(tables)["same"].all()


def test_a_cell_that_is_spoilt_is_found():
    tables = drawn_tables(0)
    spoilt = tables[4].copy()
    spoilt.loc[spoilt["label"].eq("Fair").idxmax(), "share"] = "0.999"
    assert any("Fair" in row[1] and row[2] == "0.999" for row in print_of._shares(tables | {4: spoilt}, "fluency"))


def long(wide, dimension):
    table = pd.DataFrame(wide, columns=list("ABC")).rename_axis("segment").reset_index().astype(str)
    rows = table.melt("segment", var_name="annotator", value_name="label")
    return rows.assign(src_lang="deu", tgt_lang="eng", doc="d", dimension=dimension)


@given(st.integers(0, 500))
def test_agreement_equals_statsmodels_and_krippendorff(seed):
    rng = np.random.default_rng(seed)
    codes = np.array(list(places("adequacy")))
    said = np.clip(rng.integers(0, 7, 40)[:, None] + rng.integers(-1, 2, (40, 3)), 0, 6)
    table = labels.overall(long(codes[said], "adequacy"), resamples=0)
    found = table.set_index(["coefficient", "order"])["estimate"]
    assert found["Fleiss' kappa", ""] == pytest.approx(fleiss_kappa(aggregate_raters(said)[0]))
    assert found["nominal alpha", ""] == pytest.approx(krippendorff.alpha(said.T, level_of_measurement="nominal"))
    for order in ("print", "severity"):
        placed = np.vectorize(places("adequacy", order=order).get)(codes[said])
        oracle = krippendorff.alpha(placed.T, level_of_measurement="ordinal")
        assert found["ordinal alpha", order] == pytest.approx(oracle)


def test_agreement_on_criticality_survives_groups_with_one_answer():
    codes = np.array([["S", "S", "A"], ["A", "A", "B"], ["B", "S", "S"]])
    other = np.array([["C", "S", "F"], ["O", "C", "F"], ["B", "B", "B"]])
    given_labels = pd.concat([long(codes, "adequacy"), long(other, "adequacy").assign(src_lang="fin")])
    table = labels.on_criticality(given_labels, by="src_lang", resamples=20)
    found = table.set_index(["group", "coefficient"])["estimate"]
    assert np.isnan(found["deu", "Fleiss' kappa"])
    # three items of three: agreeing pairs 1, 3 and 3 of 3
    assert found["fin", "percent agreement"] == pytest.approx((1 / 3 + 1 + 1) / 3)
    with pytest.raises(DataError, match="two annotators"):
        labels.overall(given_labels[given_labels["annotator"] == "A"])


def test_every_bleu_and_chrf_of_table_1_comes_out_with_attention_to_case():
    found = claims.compare("sudoh2021", {"table1": print_of.under_readings(print_of.tables()[1])}, items="Table 1")
    judged = [show.verdict(row.printed, row.computed) for row in found.itertuples()]
    assert judged.count("match") == judged.count("not reproducible") == 20
    assert found["note"].where(found["computed"].isna(), "ok").ne("").all()
    assert "case.lc" in found.set_index("cell").at["hyp9, bleu", "note"]


def test_without_strikethrough_or_with_lower_case_other_cells_part_from_print(printed):
    found = print_of.readings(printed[1])
    assert found["matches"].tolist() == [20, 18, 16]
    assert found["cells"].tolist() == [20] * 3


def test_a_metric_is_preferred_only_where_the_harmless_text_scores_higher():
    table = read("""
        id reference hypothesis harmless phenomenon mine
        1 r a yes p 0.5
        2 r b no q 0.5
        3 r c no q 0.7
        4 r d yes p 0.6
        5 r e no q 0.1""")
    assert print_of.preferred(table, metrics=["mine"])["preferred"].tolist() == ["tie", "no", "yes"]


def test_what_the_prose_says_of_print_is_counted_as_plain_eyes_count(printed):
    """Table 11, its rows as printed: 1,659 errors, of which 1,464 lie beside the diagonal."""
    made = print_of.print_tables(printed)
    cells = [int(text.replace(",", "")) for text in printed[11]["count"]]
    square = [cells[5 * row : 5 * row + 5] for row in range(5)]
    beside = sum(square[i][j] for i in range(5) for j in range(5) if abs(i - j) == 1)
    assert (beside, sum(cells) - sum(square[i][i] for i in range(5))) == (1464, 1659)
    fluency = made["matrices"].set_index("dimension").loc["fluency"]
    assert fluency[["adjacent", "correct", "total", "distant"]].tolist() == ["most", 2267, 3926, 8 + 22 + 4 + 2 + 0 + 2]
    spoilt = printed[11].copy()
    spoilt.loc[4, "count"] = "5000"  # Incomprehensible taken for Excellent
    assert print_of.print_tables(printed | {11: spoilt})["matrices"]["adjacent"].iloc[0] == "not most"
    lowest = made["lowest"].set_index("metric")
    scores = printed[1].set_index("id").loc[[f"hyp{n}" for n in range(1, 8)], "bleurt"].astype(float)
    assert lowest.at["bleurt", "one"] == scores.idxmin() == "hyp4"
    assert made["around"]["percent"].item() == 60
