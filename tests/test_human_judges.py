"""Models and people in place of annotators: what the test's authors print, its definition read aloud, and its laws."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evalkit import DataError
from evalkit.data import simulate
from evalkit.human import judges
from evalkit.human.judges import alternative_annotator
from tests.makers import laid_out, read

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
@settings(max_examples=25)
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


@given(st.integers(0, 10**6))
@settings(max_examples=20)
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


# Judges beside the people of direct assessments


def test_judges_of_direct_assessments_are_tried_in_each_pair_whatever_their_unit():
    people = simulate.stand_in("mlqe-pe-people")
    people = people[people["tgt_lang"].ne("eng") & people["segment"].astype(int).lt(30)]
    found = judges.direct_assessments(people, epsilons=[0.0, 0.2])
    assert set(found["data"]) == {"MLQE-PE eng-deu", "MLQE-PE eng-zho"}
    assert found.groupby(["data", "judge"]).size().eq(2).all()
    german = people[people["tgt_lang"] == "deu"]
    wide = german.pivot(index=["doc", "segment"], columns="annotator", values="z")
    model = german.drop_duplicates(["doc", "segment"]).set_index(["doc", "segment"])["model_score"].loc[wide.index]
    answers = {judges.TRANSLATING: (model - model.mean()) / model.std(), judges.CONSTANT: 0 * model}
    for row in found[found["data"].eq("MLQE-PE eng-deu") & found["judge"].isin(answers)].itertuples():
        alone = alternative_annotator(wide, answers[row.judge], alignment="rmse", epsilon=row.epsilon)
        assert (row.winning_rate, row.passed) == (alone.winning_rate, alone.passed)
        assert row.advantage == pytest.approx(alone.advantage)
    other = people.assign(model_score=3 * people["model_score"] + 5).sample(frac=1, random_state=1)
    pd.testing.assert_frame_equal(judges.direct_assessments(other, epsilons=[0.0, 0.2]), found)


def test_models_stand_beside_the_judge_that_knows_nothing():
    rows = [
        ("a", "good", "metric", 0.75, 0.8),
        ("a", "bad", "metric", 0.25, 0.9),
        ("a", "zero", "knows nothing", 1, 0.9),
    ]
    rows += [("b", "good", "metric", 0.5, 0.8), ("b", "zero", "knows nothing", 0, 0.2), ("b", "p", "people", 1, 1)]
    table = pd.DataFrame(rows, columns=["data", "judge", "kind", "winning_rate", "advantage"])
    table = table.assign(passed=table["winning_rate"] >= 0.5, epsilon=0.1, annotators=4)
    beside = judges.beside_nothing(table, epsilon=0.1)
    assert beside[["data", "judge", "rate", "nothing", "rate_nothing"]].to_numpy().tolist() == [
        ["a", "good", 0.75, "zero", 1.0],
        ["b", "good", 0.5, "zero", 0.0],
    ]


# Metrics and people in place of annotators


def tables(seed, *, noise=0.8):
    """Draw two collections of 200 translations by three people each, and judges: one like people, one random."""
    rng = np.random.default_rng(seed)
    number = np.arange(200)
    system, person = np.char.add("s", (number % 4).astype(str)), number % 3
    quality = rng.normal(0, 1, 200)
    scored = []
    for collection in ("ESA-1", "ESA-2", "MQM-1"):
        score = 70 + 5 * person + (4 + 3 * person) * (quality + noise * rng.normal(size=200))
        scored.append(laid_out(zip(system, number, person, score, strict=True), protocol=collection))
    answers = {"good": 0.1 * (quality + 0.5 * noise * rng.normal(size=200)), "random": rng.normal(size=200)}
    metrics = [laid_out(zip(system, number, own), "system segment score", metric=name) for name, own in answers.items()]
    return pd.concat(scored, ignore_index=True), pd.concat(metrics, ignore_index=True)


def test_it_is_the_test_on_scores_standardised_by_hand():
    scored, metrics = tables(1)
    found = judges.stand_ins(scored, metrics, collections=["ESA-1", "ESA-2"], people=["MQM-1"], epsilons=[0.15])
    wide = {}
    for (collection, who), own in scored[scored["protocol"] != "MQM-1"].groupby(["protocol", "annotator"]):
        z = (own["score"] - own["score"].mean()) / own["score"].std(ddof=1)
        wide[f"{collection} {who}"] = pd.Series(z.to_numpy(), index=own["segment"])
    own = metrics[metrics["metric"] == "good"].set_index("segment")["score"]
    judge = (own - own.mean()) / own.std(ddof=1)
    by_hand = alternative_annotator(pd.DataFrame(wide), judge, alignment="rmse", epsilon=0.15)
    [row] = found[found["judge"] == "good"].itertuples()
    assert (row.winning_rate, row.advantage, row.passed) == (by_hand.winning_rate, by_hand.advantage, by_hand.passed)
    assert (row.annotators, row.items, row.kind) == (6, 200, "metric")
    assert set(found["kind"]) == {"people", "metric", "knows nothing"}


@given(st.integers(0, 1000), st.floats(0.01, 50), st.floats(-9, 9))
@settings(max_examples=4)
def test_whose_unit_a_score_has_does_not_matter(seed, slope, shift):
    scored, metrics = tables(seed)
    moved = metrics.assign(score=slope * metrics["score"] + shift)
    for options in ({"scale": "rank"}, {}):
        one, other = (
            judges.stand_ins(scored, each, collections=["ESA-1", "ESA-2"], **options).sort_values("judge")
            for each in (metrics, moved)
        )
        assert one["advantage"].tolist() == pytest.approx(other["advantage"].tolist(), abs=0.011)


PEOPLE = pd.DataFrame({name: range(40) for name in "abc"})


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: alternative_annotator(PEOPLE, PEOPLE["a"], epsilon=1.0), "1.0"),
        (lambda: alternative_annotator(PEOPLE, PEOPLE["a"], alignment="kappa"), "kappa"),
        (lambda: judges.stand_ins(*tables(2), collections=["ESA-1", "ESA-2"], scale="inch"), "inch"),
        (lambda: judges.stand_ins(*tables(2), collections=["ESA-7"]), "ESA-7"),
    ],
)
def test_what_cannot_be_is_refused(call, word):
    with pytest.raises(DataError, match=word):
        call()


def test_people_who_judged_the_same_translations_elsewhere_are_a_set_of_their_own():
    scored, metrics = tables(5)
    more = scored[scored["protocol"] != "MQM-1"]
    both = pd.concat([scored, more.assign(protocol=more["protocol"].str.replace("ESA", "ESAAI"))])
    twice = [scored[scored["protocol"] == name].assign(annotator=name) for name in ("ESA-1", "ESA-2")]
    alone = twice[0].assign(segment="alone " + twice[0]["segment"])
    rated = pd.concat([*twice, alone]).drop(columns="protocol")
    found = judges.every_set(both, metrics, rated=rated, epsilons=[0.15])
    own = found[found["data"] == "MQM eng-deu"].set_index("judge").loc["good"]
    sides = [part.set_index("segment")["score"] for part in (*twice, metrics[metrics["metric"] == "good"])]
    one, other, judge = ((side - side.mean()) / side.std(ddof=1) for side in sides)
    people = pd.DataFrame({"ESA-1": one, "ESA-2": other})
    by_hand = alternative_annotator(people, judge, alignment="rmse", epsilon=0.15)
    assert (own["advantage"], own["annotators"], own["items"]) == (by_hand.advantage, 2, 200)
    assert set(judges.every_set(both, metrics, rated=alone, epsilons=[0.15])["data"]) == set(judges.SETS)


# Marks of errors as answers


MARK = st.tuples(st.integers(0, 40), st.integers(1, 15)).map(lambda one: (one[0], one[0] + one[1]))
MARKS = st.lists(MARK, max_size=5)


def characters(own):
    return {place for start, end in own for place in range(start, end)}


@given(MARKS, MARKS)
def test_likeness_is_the_f1_of_sets_of_characters(one, other):
    a, b = characters(one), characters(other)
    hits = len(a & b)
    precision, recall = (hits / len(side) if side else 0.0 for side in (a, b))
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else float(not a and not b)
    found = judges.alike(judges.mask(one), judges.mask(other))
    assert found == pytest.approx(f1)
    assert (found == 1) == (a == b)


def campaign(seed=1, items=60):
    rng = np.random.default_rng(seed)
    scored, marked = [], []
    for n in range(items):
        for protocol in ("ESA-1", "ESA-2", "MQM-1"):
            key = {"protocol": protocol, "system": f"s{n % 3}", "doc": "d", "segment": str(n)}
            scored.append(key | {"annotator": f"p{n % 2}", "item_type": "system", "score": 50.0})
            for _ in range(rng.integers(0, 3)):
                start = int(rng.integers(0, 12))
                marked.append(key | {"start": start, "end": start + int(rng.integers(1, 6)), "item_type": "system"})
    return pd.DataFrame(scored), pd.DataFrame(marked)


def test_marks_become_answers_of_people_and_none_is_an_answer_too():
    scored, marked = campaign()
    odd = marked.iloc[[0]].assign(start=-1.0, end=-1.0)
    degraded = marked.iloc[[0]].assign(start=30, end=40, item_type="degraded")
    table = judges.answers(scored[scored["protocol"] != "MQM-1"], pd.concat([marked, odd, degraded]))
    assert sorted(table) == ["ESA-1 p0", "ESA-1 p1", "ESA-2 p0", "ESA-2 p1"]
    assert (table.notna().sum(axis=1) == 2).all()
    for (system, _, segment), row in table.iterrows():
        own = marked[(marked["system"] == system) & (marked["segment"] == segment) & (marked["protocol"] == "ESA-1")]
        given = row[[name for name in table if name.startswith("ESA-1")]].dropna().item()
        places = {place for place in range(60) if given >> place & 1}
        assert places == characters(zip(own["start"], own["end"], strict=True))


def test_the_trial_is_the_test_read_aloud():
    scored, marked = campaign(5, 140)
    found = judges.marked_errors(scored, marked, pd.DataFrame(), others=["MQM-1", "ESA-9"], epsilons=[0.2]).set_index(
        "judge"
    )
    assert list(found.index.unique().sort_values()) == ["MQM-1", "no marks"]
    by_segment = marked.groupby(["protocol", "segment"])
    chars = {key: characters(zip(own["start"], own["end"], strict=True)) for key, own in by_segment}

    def f1(one, other):
        return 2 * len(one & other) / (len(one) + len(other)) if one or other else 1.0

    ahead = {}
    for row in scored[scored["protocol"] != "MQM-1"].itertuples():
        other = "ESA-2" if row.protocol == "ESA-1" else "ESA-1"
        theirs, own, judge = (chars.get((name, row.segment), set()) for name in (other, row.protocol, "MQM-1"))
        ahead.setdefault((row.protocol, row.annotator), []).append(f1(judge, theirs) >= f1(own, theirs))
    assert found.loc["MQM-1", "advantage"] == pytest.approx(np.mean([np.mean(one) for one in ahead.values()]))
    assert (found.loc["MQM-1", "annotators"], found.loc["MQM-1", "items"]) == (4, 140)
