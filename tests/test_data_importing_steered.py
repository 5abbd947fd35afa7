"""Probabilities of what was shown: a column that is kept, and those that Pearmut's log lets one rebuild."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest

from evalkit import DataError
from evalkit.data import schemas

HEADER = "lp,system,doc,segment,annotator,score,"


def table(*probabilities, name="probability"):
    rows = [f"en-de,S{i},d,{i},ann,{50 + i},{value}" for i, value in enumerate(probabilities)]
    return "\n".join([HEADER + name, *rows]) + "\n"


@pytest.mark.parametrize("name", ["probability", "Propensity", "inclusion_probability", "Selection probability"])
def test_a_column_of_probabilities_is_kept(imported, name):
    ratings, _, report = imported(table(0.25, 1, "1e-3", name=name))
    assert ratings["probability"].tolist() == [0.25, 1, 0.001]
    assert report.mapping["probability"]["theirs"] == name
    assert not report.unused


def test_what_is_no_probability_is_left_empty_and_told_and_the_score_stays(imported):
    ratings, _, report = imported(table(0.5, 0, 1.2, -0.1, "35 %", "", "often"))
    assert ratings["score"].tolist() == [50, 51, 52, 53, 54, 55, 56]
    assert ratings["probability"].dropna().tolist() == [0.5]
    assert [note for note in report.notes if "probability was left empty in 5 rows" in note]
    with pytest.raises(DataError, match="One value of probability for all rows"):
        imported(table(0.5), values={"probability": "0.5"})


@pytest.mark.parametrize("value", [0.0, 1.01])
def test_a_table_with_another_number_breaks_the_schema(value):
    row = dict.fromkeys(["src_lang", "tgt_lang", "system", "doc", "segment", "annotator"], "x")
    frame = pd.DataFrame([row | {"score": 5, "item_type": "system", "probability": value}])
    with pytest.raises(DataError, match=r"line 2, column probability"):
        schemas.check(frame, schemas.RATINGS, origin="my.csv")


# Pearmut

SYSTEMS = [f"S{i}" for i in range(6)]
WEIGHTS = {
    "release 1.1.6": lambda place: 0.5 if place == 1 else 1 / place,
    "1, 1/√2": lambda place: place**-0.5,
    "1, 1/2, 1/3 … (an earlier state)": lambda place: 1 / place,
}
COLD, SHOWN, DOCUMENTS = 4, 2, 600


def chances(weights, shown=SHOWN):
    """Enumerate every order of draws: the probability that each is among those drawn."""
    found = np.zeros(len(weights))
    for order in itertools.permutations(range(len(weights)), shown):
        left, chance = sum(weights), 1.0
        for one in order:
            chance *= weights[one] / left
            left -= weights[one]
        found[list(order)] += chance
    return found


def scores_in(log):
    """List the scores of each system in a log."""
    return {
        name: [one["annotation"][0][name]["score"] for one in log if name in one["annotation"][0]] for name in SYSTEMS
    }


def screen(log, weight, rng):
    """Draw the systems of the next screen as Pearmut does by all that was logged: system -> its probability there."""
    scores = scores_in(log)
    low = [name for name in SYSTEMS if len(scores[name]) < COLD]
    if low:
        others = [name for name in SYSTEMS if name not in low]
        sure, drawn = ([], low) if len(low) >= SHOWN else (low, others)
        share = (SHOWN - len(sure)) / len(drawn)
        chosen = rng.choice(drawn, size=SHOWN - len(sure), replace=False)
        return dict.fromkeys(sure, 1.0) | dict.fromkeys(chosen, share)
    best = sorted(SYSTEMS, key=lambda name: -np.mean(scores[name]))
    weights = np.array([weight(place) for place in range(1, len(best) + 1)])
    found = dict(zip(best, chances(weights), strict=True))
    return {name: found[name] for name in rng.choice(best, size=SHOWN, replace=False, p=weights / weights.sum())}


def steered(weight, *, screens=350, people=1, seed=3):
    """Let people judge as Pearmut steers: the log, and the probability of each output of each screen.

    With several people each screen is drawn when the one before last was not yet submitted, as in real campaigns.
    """
    rng = np.random.default_rng(seed)
    log, probabilities, open_ = [], [], []
    for number in range(screens + people - 1):
        if number < screens:
            shown = screen(log, weight, rng)
            said = {name: {"score": round(float(rng.uniform(40, 80) + 3 * SYSTEMS.index(name)), 3)} for name in shown}
            item = {"item_id": f"en-de_#_x_#_d{number}_#_0", "src": f"t{number}", "tgt": dict.fromkeys(shown, "o")}
            entry = {"user_id": f"u{number % people}", "item_i": number, "annotation": [said], "item": [item]}
            open_.append((entry | {"actions": [{"time": 10.0 * number}]}, shown))
        if number >= people - 1:
            entry, own = open_.pop(0)
            entry["actions"].append({"time": 10.0 * number + 5})
            log.append(entry)
            probabilities.append(own)
    return log, probabilities


def in_lines(log):
    return "".join(json.dumps(one) + "\n" for one in log)


def described(**info):
    data = [
        [{"item_id": f"en-de_#_x_#_d{i}_#_0", "src": f"t{i}", "tgt": dict.fromkeys(SYSTEMS, "o")}]
        for i in range(DOCUMENTS)
    ]
    info = {"assignment": "dynamic", "protocol": "ESA", "dynamic_models": SHOWN, "dynamic_coldstart": COLD} | info
    return json.dumps({"campaign_id": "x", "info": info, "data": data})


@pytest.fixture
def read(imported, tmp_path):
    """Import a log with its campaign's file beside, if there is one."""

    def read(log, campaign=None):
        (tmp_path / "data/campaigns").mkdir(parents=True, exist_ok=True)
        place = tmp_path / "data/campaigns/x.en-de.json"
        place.unlink(missing_ok=True)
        if campaign:
            place.write_text(campaign, encoding="utf-8")
        ratings, _, report = imported(in_lines(log), name="data/annotations/x.en-de.jsonl")
        return ratings, [note for note in report.notes if "dynamic" in note]

    return read


@pytest.mark.parametrize("rule", WEIGHTS)
@pytest.mark.parametrize("people", [1, 4])
def test_probabilities_are_rebuilt_from_the_order_of_the_log(read, rule, people):
    log, probabilities = steered(WEIGHTS[rule], people=people)
    ratings, [note] = read(log, described())
    expected = [one[name] for entry, one in zip(log, probabilities, strict=True) for name in entry["annotation"][0]]
    assert ratings["probability"].tolist() == pytest.approx(expected, rel=1e-9)
    assert rule in note
    assert "2 of 6 systems a screen" in note
    assert len(set(np.round(expected, 9))) > 5, "probabilities differ, or there is nothing to rebuild"


def test_without_the_campaigns_file_or_dynamic_assignment_there_are_none(read):
    log, _ = steered(WEIGHTS["release 1.1.6"], screens=60)
    for campaign in (None, described(assignment="single-stream")):
        ratings, notes = read(log, campaign)
        assert "probability" not in ratings
        assert not notes


def test_a_log_that_fits_no_known_version_gets_none_and_that_is_told(read):
    log, _ = steered(lambda place: float(place) ** 2, screens=250)
    ratings, [note] = read(log, described())
    assert "probability" not in ratings
    assert "were not rebuilt: the log does not fit" in note


def test_who_goes_back_to_a_screen_draws_nothing_anew(read):
    log, probabilities = steered(WEIGHTS["release 1.1.6"], screens=200)
    late = log[-1] | {"annotation": [{name: {"score": 1.0} for name in log[-1]["annotation"][0]}]}
    ratings, _ = read([*log, late], described())
    last = ratings[ratings["doc"] == "d199"]
    assert last["score"].tolist() == [1, 1]
    assert last["probability"].tolist() == pytest.approx([*probabilities[-1].values()], rel=1e-9)


def test_who_begins_anew_takes_scores_away_from_what_is_known(read):
    """One who gave the last system 100 resets; what follows is drawn as if that had never been."""
    log, probabilities = steered(WEIGHTS["release 1.1.6"], screens=120)
    said = [{"S0": {"score": 100.0}, "S1": {"score": 99.0}}]
    item = [{"item_id": "en-de_#_x_#_d599_#_0", "src": "t599", "tgt": {"S0": "o", "S1": "o"}}]
    odd = [
        {"user_id": "odd", "item_i": 599, "annotation": said, "item": item, "actions": []},
        {"user_id": "odd", "item_i": 599, "annotation": "__RESET__"},
    ]
    ratings, _ = read([*log[:60], *odd, *log[60:]], described())
    kept = ratings[ratings["doc"] != "d599"]
    expected = [one[name] for entry, one in zip(log, probabilities, strict=True) for name in entry["annotation"][0]]
    assert kept["probability"].tolist() == pytest.approx(expected, rel=1e-9)
