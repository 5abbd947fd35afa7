"""What people under several protocols cost, and what misleads them: drawn with known effects."""

import itertools

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.power import normal_power

from evalkit import DataError
from evalkit.human.protocols import bias, effort
from evalkit.stats.correlation import covariances
from tests.makers import laid_out, ratings

CAMPAIGNS = (*bias.ALONE, *bias.ASSISTED)


def scored(seed=7, *, drawn=0.0, noise=1.0, segments=60, systems=6):
    """Score translations whose quality is known; with suggestions, scores move by ``drawn`` times the model's error."""
    rng, shape = np.random.default_rng(seed), (systems, segments)
    quality = rng.normal(0, 1, shape) + rng.normal(0, 0.5, (systems, 1))
    error = rng.normal(0, 1, shape)
    columns = {bias.MODEL: quality + error}
    columns |= {name: quality + rng.normal(0, noise, shape) for name in bias.QUALITY}
    columns |= {name: quality + rng.normal(0, 1, shape) + drawn * error * (name in bias.ASSISTED) for name in CAMPAIGNS}
    parts = []
    for name, values in columns.items():
        part = laid_out(values, "system segment", documents=np.arange(segments) // 5, protocol=name)
        who = name + " " + (part["segment"].astype(int) % 6).astype(str)
        parts.append(part.assign(annotator=who if name in CAMPAIGNS else None))
    return pd.concat(parts, ignore_index=True)


def wide(table):
    return table.pivot(index=["system", "segment"], columns="protocol", values="score")


# Draws


@given(st.integers(0, 999), st.integers(3, 9))
def test_weighted_covariances_are_numpys(seed, rows):
    rng = np.random.default_rng(seed)
    columns, times = rng.normal(5, 2, (rows, 3)), rng.integers(0, 4, (2, rows)).astype(float)
    times[:, 0] += 1
    for found, weights in zip(covariances(columns, times), times):
        expected = np.cov(columns.T, fweights=weights.astype(int), ddof=0)
        assert found == pytest.approx(expected, abs=1e-9)


# Scores


def residuals(side, left):
    return sm.OLS(side, sm.add_constant(np.column_stack(left))).fit().resid


def test_pull_computes_what_pandas_and_statsmodels_do():
    table = scored(drawn=0.4)
    found = bias.pull(table, resamples=20)
    values = wide(table)
    model, one, two = (values[column] for column in (bias.MODEL, *bias.QUALITY))
    expected = {}
    for name in CAMPAIGNS:
        own = values[name]
        partial = [stats.pearsonr(residuals(own, left), residuals(model, left))[0] for left in ([one], [one, two])]
        multiple = own.corr(model) / np.mean([own.corr(one), own.corr(two)])
        expected[name] = [own.corr(model), *partial, multiple]
    assert found["measure"].tolist() == list(bias.PULLS)
    esa, esaai = (np.mean([expected[name] for name in group], axis=0) for group in (bias.ALONE, bias.ASSISTED))
    np.testing.assert_allclose(
        found[["esa", "esaai", "difference"]].T, [esa, esaai, esaai - esa], rtol=1e-6, atol=1e-12
    )
    assert (found["low"].le(found["difference"]) & found["difference"].le(found["high"])).all()


# Marks


PLACE = ["system", "segment", "doc", "item_type", "protocol"]


def suggested(seed):
    """Let a model suggest marks in 12 translations and people of three campaigns remove and add some."""
    rng = np.random.default_rng(seed)
    marks, truth, released = [], {}, []
    for number in range(12):
        where = (f"S{number % 3}", str(number // 3), "d", "system")
        levels = rng.choice(["minor", "major"], rng.integers(0, 5))
        truth[where[0], where[2], where[1]] = len(levels)
        released.append((*where, "LLM", -float(sum(bias.WEIGHTS[level] for level in levels))))
        for protocol in (*bias.ASSISTED, "ESAAI-IAA"):
            for place, level in enumerate(levels):
                if rng.random() < 0.5:
                    marks.append((*where, protocol, 10 * place, 10 * place + 5, level, True))
            for place in range(rng.integers(0, 3)):
                marks.append((*where, protocol, 100 + 10 * place, 105 + 10 * place, "minor", False))
    marks = pd.DataFrame(marks, columns=[*PLACE, "start", "end", "severity", "suggested"])
    return marks, pd.DataFrame(released, columns=[*PLACE, "score"]), truth


@settings(max_examples=8)
@given(st.integers(0, 9999))
def test_all_suggestions_are_known_where_somebody_left_each(seed):
    marks, released, truth = suggested(seed)
    left = bias.known_suggestions(marks).groupby(["system", "doc", "segment"]).size()
    assert {*bias.fully_known(marks, released)} == {
        place for place, made in truth.items() if left.get(place, 0) == made
    }


# Sessions


def worked(seed=7, *, along=-0.5, later=-0.2, people=6):
    """Draw judgements whose time falls along an account, and from a person's first account to the next."""
    rng = np.random.default_rng(seed)
    person, account, place = np.indices((people, 3, 30)).reshape(3, -1)
    size = len(place)
    names = np.char.add("p", person.astype(str)), np.char.add("S", (place % 3).astype(str))
    score = 70 + 5 * person + rng.normal(0, 5, size)
    rows = zip(*names, rng.integers(0, 20, size), place, 10 * person + account, score)
    table = laid_out(rows, "annotator system doc segment hit score", protocol="ESA-1")
    log_seconds = 3 + 0.3 * person + along * place / 29 + later * (account > 0) + rng.normal(0, 0.3, size)
    table = table.assign(started=1e5 * account + 60 * place, position=place.astype(float), seconds=np.exp(log_seconds))
    return table.assign(errors=rng.poisson(2, size).astype(float), words=rng.integers(5, 40, size).astype(float))


def with_model(judged):
    """Make scores of the model, as released, of what was judged."""
    keys = judged[["system", "doc", "segment"]].drop_duplicates()
    return keys.assign(protocol="LLM", score=np.random.default_rng(1).normal(size=len(keys)))


def test_changes_are_least_squares_with_a_level_for_each_person():
    judged = worked()
    released = with_model(judged)
    left = pd.get_dummies(judged["annotator"], dtype=float)
    left = left.assign(along=judged["position"] / 29, later=(judged["started"] >= 1e5).astype(float))
    left["words"] = np.log(judged["words"])
    left["model"] = judged[["system", "doc", "segment"]].merge(released, how="left")["score"].to_numpy()
    both = pd.concat([released.assign(protocol="ESA-1", score=0.0), released])
    found = bias.sessions(judged, both, resamples=20).set_index("measure")
    outcomes = {"seconds": np.log(judged["seconds"]), "score": judged["score"], "marks": judged["errors"]}
    assert set(found.index) == set(outcomes)
    for measure, outcome in outcomes.items():
        fit = sm.OLS(outcome, left).fit().params[["along", "later"]]
        expected = 100 * np.expm1(fit) if measure == "seconds" else fit
        assert found.loc[measure, "estimate"].tolist() == pytest.approx(expected.tolist())


def test_one_account_of_each_says_nothing_about_later_ones():
    first = worked()[lambda table: table["started"] < 1e5]
    found = bias.sessions(first, with_model(first), resamples=20)
    assert np.isfinite(found["estimate"]).tolist() == [True, False] * 3


# Time, certainty and choice of protocols


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


def looped(judged, pause=600):
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


@given(st.integers(0, 10**6), st.sampled_from([40, 300, 900]))
def test_a_judgement_takes_from_the_end_of_the_one_before(seed, pace):
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame({"protocol": rng.choice(["E", "M"], 60), "annotator": rng.choice(list("ab"), 60)})
    rows["hit"] = rows["annotator"] + rng.choice(list("xy"), 60)
    rows["ended"] = rng.permutation(np.cumsum(rng.exponential(pace, 60)))
    rows.index = rng.permutation(60)
    found = effort.add_times(rows)["seconds"]
    pd.testing.assert_series_equal(found.sort_index(), looped(rows), check_names=False)


def test_words_are_what_stands_between_white_space():
    rows = pd.DataFrame({"segment": ["1", "2", "1"], "system": list("aab")})
    texts = pd.DataFrame({"segment": ["1", "2"], "source": ["Well,  that's it.", "One\nmore"]})
    assert effort.add_words(rows, texts)["words"].tolist() == [3, 2, 3]


def sources(judged):
    """Return a source of so many words as the segment's last digit says, and one."""
    segments = judged["segment"].unique()
    return pd.DataFrame({"segment": segments, "source": ["w " * (1 + int(one[-1])) for one in segments]})


def test_degraded_items_cost_time_and_are_not_measured(judged):
    twice = pd.concat([judged, judged.assign(item_type="degraded", ended=judged["ended"] + 0.5)], ignore_index=True)
    before, after = (effort.work(effort.add_times(table)) for table in (judged, twice))
    assert after["seconds"].to_numpy() == pytest.approx(after["hours"] * 3600 / judged.groupby("protocol").size())
    assert after["people"].tolist() == before["people"].tolist()
    assert effort.time(twice, sources(twice), resamples=10)["judgements"].max() <= len(judged) / 2


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
    assert effort.spread(score, system, {}, {"residual": 1e9}) == 0


# Certainty


def test_the_standard_error_is_that_of_new_campaigns():
    """Predicted from one campaign's truth, seen in the systems' differences of many campaigns of the same design."""
    squares = []
    for seed in range(60):
        own = campaign(seed, systems=12)
        means = (own["score"] - 8 * own["system"].str[1:].astype(int)).groupby(own["system"]).mean()
        squares.append(2 * means.var())  # the mean over pairs of systems of the squared difference
    hours, block = 1.0, effort.estimate(own)["block"]
    row = {"seconds": hours * 3600 / len(own), "hours_each": hours / 8, "block": block, **TRUE}
    predicted = effort.variance(pd.DataFrame([row]))[0]
    assert predicted == pytest.approx(np.mean(squares), rel=0.12)


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


def test_hours_reach_the_error(judged, parts):
    means = effort.differences(judged, parts)
    assert means.mean() == pytest.approx(0, abs=1e-12)
    gaps = effort.gaps(means)
    error = float(effort.needed_error(gaps["any two"]))
    needed = effort.variance(parts) / (error * parts["spread"]) ** 2
    for row in effort.intervals(parts, needed).itertuples():
        reached = effort.standard_errors(parts, hours=[row.estimate]).set_index("protocol").loc[row.protocol, "se"]
        assert reached == pytest.approx(error)
        assert row.low < row.estimate < row.high


def test_campaigns_with_gaps_or_without_times_do_not_count():
    sizes = {"systems": 3, "documents": 12, "people": 4}
    whole = pd.concat([campaign(1, **sizes), campaign(2, protocol="MQM-1", **sizes)], ignore_index=True)
    first = whole[whole["protocol"] == "ESA-1"]
    holed, unknown = first.assign(protocol="ESA-IAA").head(30), first.assign(protocol="WMT-MQM", annotator=None)
    found = effort.components(pd.concat([whole, holed, unknown]), whole, groups=2)
    assert found["protocol"].unique().tolist() == ["ESA-1", "MQM-1"]


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


# What is refused


def test_components_that_one_person_cannot_tell_are_refused():
    one = campaign(5, systems=3, documents=9, people=3).assign(annotator="one")
    with pytest.raises(DataError, match="distinguished"):
        effort.estimate(one)
