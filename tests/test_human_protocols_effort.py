"""Time, certainty and choice of protocols: against loops, dense matrices, statsmodels and what the paper prints."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.power import normal_power

from evalkit import DataError
from evalkit.human.protocols import effort
from tests.makers import ratings

TRUE = {"showing": 60.0, "annotator": 30.0, "taste": 12.0, "residual": 150.0}


def campaign(seed, *, protocol="ESA-1", systems=6, documents=40, people=8, variances=TRUE, scale=1.0, pace=40.0):
    """Make a campaign by the model: documents of one to four segments, dealt to people by chance for each system."""
    spread = {name: variances[name] ** 0.5 for name in ("annotator", "taste", "residual")}
    spread |= {"segment": 4.0, "document": variances["showing"] ** 0.5}
    names, lengths = [f"{protocol}p{k}" for k in range(people)], [1 + d % 4 for d in range(documents)]
    sizes = {"systems": systems, "documents": documents, "length": lengths, "people": names}
    options = {"each": 1, "dealt": "showing", "gap": -8.0, "level": 0.0, "scale": None, "pace": pace}
    rows = ratings(seed, **sizes, **options, spread=spread, protocol=protocol)
    errors = np.random.default_rng(seed).poisson(1.0, len(rows))
    return rows.assign(score=scale * rows["score"], hit=rows["annotator"] + "h", errors=errors)


@pytest.fixture(scope="module")
def judged():
    """Return two campaigns on the same texts; the second has other people, another scale and twice the time."""
    return pd.concat([campaign(1), campaign(2, protocol="MQM-1", scale=0.1, pace=80.0)], ignore_index=True)


@pytest.fixture(scope="module")
def parts(judged):
    return effort.components(judged, judged, groups=4)


# Time


def looped(judged, pause):
    """Return the seconds of each judgement by a loop over people."""
    found = {}
    for _, own in judged.groupby(["protocol", "annotator"]):
        before, accounts = None, set()
        for row in own.sort_values("ended").itertuples():
            known = before is not None and row.ended - before <= pause and row.hit in accounts
            found[row.Index] = row.ended - before if known else np.nan
            before = row.ended
            accounts.add(row.hit)
    return pd.Series(found).sort_index()


@given(st.integers(0, 10**6), st.sampled_from([30.0, 90.0, 600.0]))
def test_a_judgement_takes_from_the_end_of_the_one_before(seed, pause):
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame({"protocol": rng.choice(["E", "M"], 60), "annotator": rng.choice(list("ab"), 60)})
    rows["hit"] = rows["annotator"] + rng.choice(list("xy"), 60)
    rows["ended"] = rng.permutation(np.cumsum(rng.exponential(40, 60)))
    rows.index = rng.permutation(60)
    found = effort.add_times(rows, pause=pause)["seconds"]
    pd.testing.assert_series_equal(found.sort_index(), looped(rows, pause), check_names=False)


def test_words_are_what_stands_between_white_space():
    rows = pd.DataFrame({"segment": ["1", "2", "1"], "system": list("aab")})
    texts = pd.DataFrame({"segment": ["1", "2"], "source": ["Well,  that's it.", "One\nmore"]})
    assert effort.add_words(rows, texts)["words"].tolist() == [3, 2, 3]
    with pytest.raises(DataError, match="1 judgements"):
        effort.add_words(rows, texts.head(1))


def sources(judged):
    """Return a source of so many words as the segment's last digit says, and one."""
    segments = judged["segment"].unique()
    return pd.DataFrame({"segment": segments, "source": ["w " * (1 + int(one[-1])) for one in segments]})


def test_time_is_medians_and_totals(judged):
    table = effort.time(judged, sources(judged), resamples=60).set_index(["protocol", "unit"])
    assert table.index.get_level_values("unit").unique().tolist() == list(effort.UNITS)
    for protocol, own in judged.assign(seconds=looped(judged, 600)).dropna().groupby("protocol"):
        words = 1 + own["segment"].str[-1].astype(int)
        for unit, size in zip(effort.UNITS, (pd.Series(1.0, own.index), words, own["errors"]), strict=True):
            row, some = table.loc[(protocol, unit)], size > 0
            assert row["median"] == pytest.approx((own["seconds"] / size)[some].median())
            assert row["overall"] == pytest.approx(own["seconds"].sum() / size.sum())
            assert row["low"] < row["median"] < row["high"]
            assert row["overall_low"] < row["overall"] < row["overall_high"]


def test_degraded_items_cost_time_and_are_not_measured(judged):
    twice = pd.concat([judged, judged.assign(item_type="degraded", ended=judged["ended"] + 0.5)], ignore_index=True)
    before, after = effort.work(judged), effort.work(twice)
    assert after["useful"].tolist() == before["useful"].tolist()
    assert (after["judgements"] == 2 * before["judgements"]).all()
    assert after["seconds"].to_numpy() == pytest.approx(after["hours"] * 3600 / after["useful"])
    assert effort.time(twice, sources(twice), resamples=10)["judgements"].max() <= before["useful"].max()


def test_what_filtering_spares():
    few = pd.DataFrame({"system": list("abab"), "segment": list("1122"), "score": [0, 0, -1, 0]})
    ends = pd.DataFrame({"system": list("aabb"), "segment": list("1212"), "ended": [0.0, 10, 40, 100]})
    few, ends = few.assign(protocol="LLM", doc="d"), ends.assign(protocol="E", doc="d", item_type="system")
    found = effort.spared(few, ends.assign(annotator="p", hit="h"), fewest=2)
    assert found == {"outputs": 0.75, "time": pytest.approx(90 / 100), "segments": 0.5}


# Components


def dense(rows):
    """Solve the equations of ``estimate`` with whole projection matrices."""
    indicators = {
        name: pd.get_dummies(rows.groupby(key).ngroup()).to_numpy(float)
        for name, key in {"system": ["system"], "segment": ["doc", "segment"], **effort.CAUSES}.items()
    }
    fixed = np.hstack([indicators.pop("system"), indicators.pop("segment")])
    left = np.eye(len(rows)) - fixed @ np.linalg.pinv(fixed)
    random = [*indicators.values(), np.eye(len(rows))]
    sums = [((z.T @ left @ rows["score"].to_numpy(float)) ** 2).sum() for z in random]
    expected = [[((one.T @ left @ other) ** 2).sum() for other in random] for one in random]
    return dict(zip([*indicators, "residual"], np.linalg.solve(expected, sums), strict=True))


@given(st.integers(0, 10**6))
@settings(max_examples=12)
def test_components_equal_those_of_dense_matrices(seed):
    rows = campaign(seed, systems=4, documents=14, people=4)
    rows = rows.drop(index=np.random.default_rng(seed).choice(len(rows), 9, replace=False)).reset_index(drop=True)
    found, expected = effort.estimate(rows), dense(rows)
    if min(expected.values()) > 0:
        assert {name: found[name] for name in expected} == pytest.approx(expected, rel=1e-6, abs=1e-6)


@given(st.integers(0, 10**6), st.floats(0.1, 20), st.floats(-50, 50))
@settings(max_examples=10)
def test_components_ignore_levels_of_systems_and_segments(seed, scale, shift):
    rows = campaign(seed, systems=4, documents=20)
    rng = np.random.default_rng(seed)
    hard = rng.normal(0, 30, rows["segment"].nunique())[pd.factorize(rows["segment"])[0]]
    other = rows.assign(score=scale * rows["score"] + shift * rows["system"].str[1:].astype(int) + hard)
    one, two = ({name: effort.estimate(table)[name] for name in TRUE} for table in (rows, other))
    assert two == pytest.approx({name: scale**2 * value for name, value in one.items()}, rel=1e-5, abs=1e-5)


def test_the_spread_is_what_the_covariance_matrix_leaves_of_the_means():
    rows = campaign(5, systems=3, documents=9, people=3)
    covariance = TRUE["residual"] * np.eye(len(rows))
    levels = {name: rows.groupby(key).ngroup().to_numpy() for name, key in effort.CAUSES.items()}
    for name, codes in levels.items():
        z = pd.get_dummies(codes).to_numpy(float)
        covariance += TRUE[name] * z @ z.T
    means = rows.groupby("system")["score"].mean()
    shares = [rows["system"].eq(name).to_numpy(float) / rows["system"].eq(name).sum() for name in means.index]
    chance = [(a - b) @ covariance @ (a - b) for a, b in itertools.combinations(shares, 2)]
    system, score = pd.factorize(rows["system"], sort=True)[0], 100 * rows["score"].to_numpy()
    expected = np.sqrt(100**2 * means.var() - np.mean(chance) / 2)
    assert effort.spread(score, system, levels, TRUE) == pytest.approx(expected)
    with pytest.raises(DataError, match="distinguished"):
        effort.estimate(rows.assign(annotator="one"))


# Certainty


def test_the_spread_is_that_of_the_true_means(parts):
    """Systems are 8 points apart, 6 of them; the second campaign has a tenth of the scale."""
    true = 8 * np.std(range(6), ddof=1)
    whole = parts[parts["left_out"] == ""].set_index("protocol")["spread"]
    assert whole[["ESA-1", "MQM-1"]].tolist() == pytest.approx([true, true / 10], rel=0.35)
    quiet = campaign(3, variances=dict.fromkeys(TRUE, 0.0))
    assert effort.estimate(quiet)["spread"] == pytest.approx(quiet.groupby("system")["score"].mean().std())
    system = pd.factorize(quiet["system"])[0]
    assert effort.spread(quiet["score"].to_numpy(), system, {}, {"residual": 1e6}) == 0


def test_the_standard_error_is_that_of_new_campaigns():
    """Predicted from one campaign's truth, seen in the systems' differences of many campaigns of the same design."""
    squares = []
    for seed in range(60):
        own = campaign(seed, systems=12)
        means = (own["score"] - 8 * own["system"].str[1:].astype(int)).groupby(own["system"]).mean()
        squares.append(2 * means.var())  # the mean over pairs of systems of the squared difference
    hours, block = 1.0, effort.estimate(own)["block"]
    row = {"seconds": hours * 3600 / len(own), "hours_each": hours / 8, "block": block, **TRUE}
    predicted = effort.variance(pd.DataFrame([row]), [hours])[0, 0]
    assert predicted == pytest.approx(np.mean(squares), rel=0.12)


def test_twice_the_hours_halve_the_variance(parts):
    found = effort.variance(parts, [10, 20, 40])
    assert found[:, 0] == pytest.approx(2 * found[:, 1])
    assert found[:, 1] == pytest.approx(2 * found[:, 2])
    crew = effort.variance(parts, [1e9], people=10)[:, 0]
    assert crew == pytest.approx(2 * parts["taste"].to_numpy() / 10, abs=1e-6)


def test_twice_the_time_is_twice_the_hours(parts):
    """The second campaign is the first one's model at half the pace, so it needs about twice the hours."""
    table = effort.relative_hours(parts, base="ESA").set_index("protocol")
    assert table.loc["ESA", ["hours", "low", "high"]].tolist() == [1, 1, 1]
    assert table.loc["MQM", "low"] < 2 < table.loc["MQM", "high"]
    back = effort.relative_hours(parts, base="MQM").set_index("protocol")
    assert back.loc["ESA", "low"] == pytest.approx(1 / table.loc["MQM", "high"])


@pytest.mark.parametrize("gap", [0.1, 0.8, 3.0])
def test_the_needed_error_has_the_power_it_promises(gap):
    found = normal_power(gap / float(effort.needed_error(gap)), 1, effort.ALPHA, sigma=1.0)
    assert found == pytest.approx(effort.POWER, abs=1e-4)


def test_hours_needed_reach_the_error(judged, parts):
    means = effort.differences(judged, parts)
    assert means.mean() == pytest.approx(0, abs=1e-12)
    gaps = effort.gaps(means)
    for row in effort.hours_needed(parts, gaps).itertuples():
        reached = effort.standard_errors(parts, hours=[row.hours]).set_index("protocol").loc[row.protocol, "se"]
        assert reached == pytest.approx(float(effort.needed_error(row.gap)))
        assert row.low < row.hours < row.high


def test_shares_add_up_and_the_floor_is_where_hours_stop_helping(parts):
    table = effort.shares(parts).set_index("protocol")
    assert table[list(effort.NAMES.values())].sum(axis=1).to_numpy() == pytest.approx(1)
    whole = parts[parts["left_out"] == ""].set_index("protocol")
    for name, row in table.iterrows():
        own = parts[(parts["protocol"] == name) & (parts["left_out"] == "")]
        far = np.sqrt(effort.variance(own, [1e9], people=whole.loc[name, "people"])[0, 0])
        assert row["floor"] == pytest.approx(far / whole.loc[name, "spread"], rel=1e-4, abs=1e-4)


def test_campaigns_with_gaps_or_without_times_do_not_count(judged, parts):
    holed = pd.concat([judged, judged[judged["protocol"] == "ESA-1"].assign(protocol="ESA-IAA").head(100)])
    unknown = judged[judged["protocol"] == "ESA-1"].assign(protocol="WMT-MQM", annotator=None)
    found = effort.components(pd.concat([holed, unknown]), judged, groups=2)
    assert found["protocol"].unique().tolist() == ["ESA-1", "MQM-1"]
    with pytest.raises(DataError, match="every output"):
        effort.components(unknown, judged)


# Choice


def offers():
    """Return prospects in which MQM is surest and ESAAI has most marks, ESA most of people's own."""
    rows = [("ESA", 0.4, 20, 20), ("ESAAI", 0.3, 80, 15), ("MQM", 0.2, 15, 15)]
    rates = pd.DataFrame(rows, columns=["protocol", "se", "marks", "own"]).assign(pairs=0.5)
    hours = [10.0, 40.0]
    parts = [rates.assign(hours=one, marks=one * rates["marks"], own=one * rates["own"]) for one in hours]
    return pd.concat(parts, ignore_index=True)


def relative(low):
    """Return comparisons in which every other protocol needs 1.5 times the hours, at least ``low``."""
    names = ["ESA", "ESAAI", "MQM"]
    tables = {base: pd.DataFrame({"protocol": names, "campaigns": 2, "hours": 1.5, "low": low}) for base in names}
    for base, table in tables.items():
        table.loc[table["protocol"] == base, ["hours", "low"]] = 1.0
    return {base: table.assign(high=3.0) for base, table in tables.items()}


def test_choice_takes_the_surest_and_experts_where_they_are():
    table = effort.decide(offers(), relative(1.2))
    assert not table.loc[table["people"] == "without experts", "take"].str.contains("MQM").any()
    taken = table.groupby(["aim", "people"])["take"].agg(set).to_dict()
    assert taken["rank systems", "with experts"] == taken["find their errors", "with experts"] == {"MQM"}
    assert taken["rank systems", "without experts"] == {"ESAAI"}
    assert taken["find their errors", "without experts"] == {"ESAAI or ESA"}
    alone = effort.decide(offers().assign(own=lambda rows: rows["marks"]), relative(1.2))
    assert "ESAAI" in alone["take"].tolist()
    unsure = effort.decide(offers(), relative(0.9))
    assert unsure.loc[unsure["aim"] == "rank systems", "take"].str.count(" or ").isin([1, 2]).all()
    for experts, people in ((True, "with experts"), (False, "without experts")):
        yours = effort.decide(offers(), relative(1.2), experts=experts).query("yours")  # the reader's own case
        assert (yours.index.tolist(), set(yours["people"]), set(yours["hours"])) == ([0, 1], {people}, {10.0})


def test_prospects_grow_with_hours(judged, parts):
    means = effort.differences(judged, parts)
    marked = judged.loc[judged.index.repeat(judged["errors"])].assign(suggested=lambda rows: rows["system"] == "S0")
    found = effort.prospects(parts, judged, marked, means, hours=[10, 40])
    for _, rows in found.groupby("protocol"):
        assert rows["se"].iloc[0] == pytest.approx(2 * rows["se"].iloc[1])
        assert rows["pairs"].is_monotonic_increasing
        assert rows["marks"].iloc[1] == pytest.approx(4 * rows["marks"].iloc[0])
    rates = effort.marks_an_hour(judged, marked).loc["ESA"]
    own = judged[judged["protocol"] == "ESA-1"]
    spent = looped(own, 600).mean() * len(own) / 3600
    assert rates["marks"] == pytest.approx(own["errors"].sum() / spent)
    assert rates["own"] == pytest.approx(own.loc[own["system"] != "S0", "errors"].sum() / spent)
