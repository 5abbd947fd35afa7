"""Tables of all makes: which way is better, by the heading; what may be left out, and what a slip does to the scale."""

import random

import numpy as np
import pandas as pd
import pytest

from evalkit import DataError
from tests.makers import each, means


def judged(draw=lambda rng: rng.randint(0, 100), heading="score"):
    """Make a table of judgements of three systems, of 30 segments, by two people, whose numbers are drawn."""
    rng = random.Random(1)
    keys = [(person, str(n), system) for person in ("Eva", "Uli") for n in range(30) for system in "ABC"]
    frame = pd.DataFrame(keys, columns=["annotator", "segment", "system"])
    return frame.assign(**{heading: [draw(rng) for _ in keys]})


# which way is better


@each
def test_of_penalties_and_ranks_the_score_is_minus_the_number(heading, meaning, imported):
    low, most = meaning != "score", {"score": 100, "penalty": 12, "rank": 1}[meaning]
    frame = judged(lambda rng: rng.randint(0, most), heading)
    if meaning == "rank":
        frame[heading] = np.random.default_rng(4).permuted([[1, 2, 3]] * 60, axis=1).ravel()
    ratings, _, report = imported(frame.sample(frac=1, random_state=3).to_csv(index=False, sep=";"))
    assert means(ratings) == means(frame.assign(score=(-1 if low else 1) * frame[heading]))
    assert report.orientation.startswith("lower is better by the heading" if low else "higher is better")
    assert report.scale == (None if low else [0, 100])
    assert not np.signbit(ratings["score"][ratings["score"].eq(0)]).any()


# what may be left out: broken rows, never a kind of judgement


@pytest.mark.parametrize("allow_rejected", [False, True])
def test_negatives_of_standardised_scores_never_go(allow_rejected, imported):
    frame = judged(lambda rng: round(rng.gauss(1, 1), 3))
    with pytest.raises(DataError, match=r"falsify the result"):
        imported(frame.to_csv(index=False), allow_rejected=allow_rejected)
    assert means(imported(frame.to_csv(index=False), scale=(-10, 10))[0]) == means(frame)


def test_broken_rows_may_be_left_out_but_no_kind_of_judgement(imported):
    frame = judged().astype({"score": object})
    slips, answer, system = frame.copy(), frame.copy(), frame.copy()
    slips.loc[::13, "score"] = [f"x{n}" for n in range(14)]
    assert imported(slips.to_csv(index=False))[2].rows_rejected == 14
    answer.loc[::6, "score"] = "see mail"
    system.loc[2::6, "score"] = [f"x{n}" for n in range(30)]
    for kind in (answer, system):
        with pytest.raises(DataError, match="so --allow-rejected does not"):
            imported(kind.to_csv(index=False))


# scales


def test_a_slip_stretches_no_scale_and_is_told(imported):
    frame = judged(lambda rng: rng.randint(0, 10))
    frame.loc[7, "score"] = 850
    _, _, report = imported(frame.to_csv(index=False))
    assert (report.scale, report.rows_rejected) == ([0, 10], 1)
    assert "179 of 180" in report.scale_from


def test_of_several_files_a_guess_from_few_scores_gives_way(imported, tmp_path):
    steps = judged(lambda rng: rng.randint(1, 5)).replace({"system": {"A": "D", "B": "E", "C": "F"}})
    many, few, other = (tmp_path / name for name in ("many.csv", "few.csv", "other.csv"))
    for path, frame in ((many, judged()), (few, steps[:3]), (other, steps)):
        frame.to_csv(path, index=False)
    assert imported([few, many])[2].scale == [0, 100]
    with pytest.raises(DataError, match=r"--scale LOW:HIGH"):
        imported([other, many], format="csv")
