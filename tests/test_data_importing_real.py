"""Importers on every real data set: what is imported equals what the suite's own loader reads."""

import re

import pandas as pd
import pytest

from evalkit.data import registry
from evalkit.data.files import obtain

pytestmark = pytest.mark.usefixtures("own_salt")


def files(name, pattern=""):
    """Name the verified files of a data set that match a pattern."""
    return [path for path in map(obtain, registry.entry(name).files) if re.search(pattern, path.name)]


def assert_same(found, expected):
    """Compare all columns that both have, whatever the order of rows and the kind of text."""
    shared = [name for name in expected if name in found]
    named = dict.fromkeys(expected[shared].select_dtypes("category"), "str")
    keys = [name for name in shared if name not in ("score", "z", "errors", "ended")]
    tables = [table[shared].astype(named).sort_values(keys, ignore_index=True) for table in (found, expected)]
    pd.testing.assert_frame_equal(*tables, check_dtype=False, check_exact=True)


def test_calibration_hits(real, imported):
    expected = real("wmt22-calibration-hits")
    ratings, spans, report = imported(files("wmt22-calibration-hits", r"20221103\.csv"))
    kinds = ratings["item_type"].replace({"system": "calibration", "reference": "calibration"})
    assert_same(ratings.assign(item_type=kinds), expected)
    assert report.format == "appraise"
    assert spans is None
    assert report.excluded == {"is the score of a whole document": 1139}


def test_error_span_annotation(real, imported):
    expected = real("wmt24-esa")
    ratings, spans, report = imported(files("wmt24-esa"))
    assert_same(ratings, expected)
    assert report.format == "esa"
    assert len(spans) == expected["errors"].sum() == 20_656
    twice, replaced = (
        report.reasons["is the same as an earlier row to the letter"],
        report.excluded["was replaced by a later submission"],
    )
    assert twice + replaced == expected.attrs["excluded"]["submissions that a later one replaced"]
    assert report.excluded["is an item of the tutorial"] == expected.attrs["excluded"]["tutorial items"]


def test_sign_language(real, imported):
    expected = real("wmt-slt22")
    ratings, _, report = imported(files("wmt-slt22"))
    assert_same(ratings, expected)
    assert report.excluded == {"is the score of a whole document": expected.attrs["excluded"]["document scores"]}


@pytest.mark.parametrize("name", ["wmt21-mturk", pytest.param("wmt22-mturk", marks=pytest.mark.slow)])
def test_mechanical_turk(name, real, imported):
    expected = real(name)
    ratings, _, report = imported(files(name, "good-stnd"))
    assert set(ratings) == set(expected)
    assert_same(ratings, expected)
    assert (report.format, report.rows_rejected, report.rows_excluded) == ("mturk-da", 0, 0)


@pytest.mark.slow
def test_mqm_as_mt_metrics_eval_keeps_it(real, imported):
    expected, marked = real("wmt23-mqm"), real("wmt23-mqm-spans")
    folder = files("wmt23-mqm", "rating")[0].parent.parent
    ratings, spans, report = imported([folder])
    assert_same(ratings, expected)
    assert_same(spans, marked)
    assert (report.format, report.scale) == ("mt-metrics-eval", None)


def test_human_scores_of_mt_metrics_eval(real, imported):
    expected = real("wmt23-human").query("metric == 'da-sqm'").rename(columns={"metric": "annotator"})
    ratings, spans, _ = imported(files("wmt23-human", r"da-sqm\.seg\.score"))
    assert_same(ratings, expected)
    assert len(ratings) == len(expected)
    assert spans is None


def test_indicmt(real, imported):
    expected, marked = real("indicmt-mqm"), real("indicmt-mqm-spans")
    ratings, spans, report = imported(files("indicmt-mqm", r"\.csv"))
    assert_same(ratings, expected)
    assert_same(spans, marked)
    assert report.format == "mqm"
