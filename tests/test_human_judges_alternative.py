"""The alternative annotator test: what its authors print, a plain reading of the definition, and its laws."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from makers import read
from scipy import stats

from evalkit import DataError
from evalkit.human.judges import alternative_annotator

#: What alt_test_example.ipynb prints (nitaytech/AltTest at 18428b1f): winning rate and advantage of each model.
PRINTED = read("""
    model        lgbteen   10k_prompts cebab_stars
    gemini_flash 0.25:0.71 0.31:0.67   0.60:0.82
    gemini_pro   0.00:0.67 0.08:0.63   0.80:0.87
    gpt-4o       0.75:0.77 0.69:0.76   0.90:0.90
    llama-31     0.00:0.72 0.15:0.67   0.60:0.85
    gpt-4o-mini  0.75:0.76 0.92:0.80   0.90:0.89
    mistral-v03  0.25:0.75 0.15:0.67   0.50:0.83
""").set_index("model")
#: Alignment and epsilon of its cells.
CELLS = {"lgbteen": ("accuracy", 0.2), "10k_prompts": ("rmse", 0.15), "cebab_stars": ("rmse", 0.1)}


@pytest.mark.parametrize("name", CELLS)
def test_what_the_authors_print_comes_out(name, mirrored):
    files = sorted(mirrored("MANIFEST.tsv").parent.glob(f"nitaytech/AltTest/*/data/{name}/*.json"))
    humans, models = (json.loads(path.read_text(encoding="utf-8")) for path in files)
    alignment, epsilon = CELLS[name]
    people = pd.DataFrame({who: pd.Series(answers, dtype=object) for who, answers in humans.items()})
    for model, printed in PRINTED[name].items():
        judge = pd.Series(models[model], dtype=object)
        found = alternative_annotator(people, judge, alignment=alignment, epsilon=epsilon)
        assert f"{found.winning_rate:.2f}:{found.advantage:.2f}" == printed, model
        assert found.passed == (found.winning_rate >= 0.5)


def by_definition(people, judge, near, epsilon):
    """Read the paper's section 3 aloud, item by item; people: name -> item -> answer."""
    items = {item for answers in people.values() for item in answers}
    counted = {i for i in items if sum(i in a for a in people.values()) >= 2 and i in judge}
    rows = []
    for name, answers in people.items():
        own = [item for item in answers if item in counted]
        if len(own) < 30:
            continue
        ahead, behind = [], []
        for item in own:
            others = [a[item] for who, a in people.items() if who != name and item in a]
            person, model = near(answers[item], others), near(judge[item], others)
            ahead.append(float(model >= person))
            behind.append(float(person >= model))
        gap = np.subtract(behind, ahead)
        p = stats.ttest_1samp(gap, epsilon, alternative="less").pvalue if np.ptp(gap) else float(gap[0] >= epsilon)
        rows.append((name, len(own), np.mean(ahead), np.mean(behind), p))
    wins = stats.false_discovery_control([p for *_, p in rows], method="by") <= 0.05
    return [(*row, bool(won)) for row, won in zip(rows, wins, strict=True)]


def same(one, others):
    return np.mean([one == other for other in others])


def close(one, others):
    return -np.sqrt(np.mean([(one - other) ** 2 for other in others]))


@pytest.mark.parametrize(("alignment", "near"), [("accuracy", same), ("rmse", close), (lambda a, b: a == b, same)])
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_it_is_what_the_paper_defines(alignment, near, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    items, number = data.draw(st.integers(31, 60)), data.draw(st.integers(2, 5))
    truth = rng.integers(0, 4, items)
    noisy = [np.where(rng.random(items) < 0.3, rng.integers(0, 4, items), truth) for _ in range(number + 1)]
    people = pd.DataFrame({f"p{n}": one.astype(float) for n, one in enumerate(noisy[:-1])})
    people = people.where(rng.random(people.shape) < data.draw(st.sampled_from([0.8, 0.95, 1.0])))
    judge = pd.Series(noisy[-1].astype(float)).where(rng.random(items) < 0.95)
    plain = {name: people[name].dropna().to_dict() for name in people}
    expected = by_definition(plain, judge.dropna().to_dict(), near, 0.15)
    if not expected:
        with pytest.raises(DataError, match="No annotator has 30 items"):
            alternative_annotator(people, judge, alignment=alignment, epsilon=0.15)
        return
    found = alternative_annotator(people, judge, alignment=alignment, epsilon=0.15)
    rows = found.annotators[["annotator", "items", "ahead", "behind", "p", "wins"]].itertuples(index=False)
    for (name, count, ahead, behind, p, won), row in zip(expected, rows, strict=True):
        assert (row.annotator, row.items, row.wins) == (name, count, won)
        assert (row.ahead, row.behind, row.p) == pytest.approx((ahead, behind, p), abs=1e-9)
    assert set(found.untested) == set(people) - set(found.annotators["annotator"])


def test_a_copy_of_a_person_is_as_near_as_that_person():
    rng = np.random.default_rng(3)
    people = pd.DataFrame(rng.integers(0, 5, (80, 4)).astype(float), columns=list("abcd"))
    found = alternative_annotator(people, people["b"], alignment="rmse", epsilon=0.1)
    [row] = found.annotators[found.annotators["annotator"] == "b"].itertuples()
    assert (row.ahead, row.behind, row.wins) == (1.0, 1.0, True)


@given(st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_whoever_demands_less_is_satisfied_sooner_and_scales_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    truth = rng.normal(0, 1, 50)
    people = pd.DataFrame({name: truth + rng.normal(0, 0.7, 50) for name in "abcd"})
    judge = pd.Series(truth + rng.normal(0, 0.8, 50))
    rates = [alternative_annotator(people, judge, alignment="rmse", epsilon=e).winning_rate for e in (0, 0.1, 0.2, 0.4)]
    assert rates == sorted(rates)
    once = alternative_annotator(people, judge, alignment="rmse")
    again = alternative_annotator(4 * people + 3, 4 * judge + 3, alignment="rmse")
    assert (once.annotators["ahead"] == again.annotators["ahead"]).all()
    assert once.advantage == pytest.approx(once.annotators["ahead"].mean())


@pytest.mark.parametrize(("option", "value"), [("epsilon", 1.0), ("epsilon", -0.1), ("alignment", "kappa")])
def test_what_cannot_be_is_refused(option, value):
    people = pd.DataFrame({name: range(40) for name in "abc"})
    with pytest.raises(DataError, match=f"{value}"):
        alternative_annotator(people, people["a"], **{option: value})
