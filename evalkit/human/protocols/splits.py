"""Whether the model behind ``certainty`` holds: what it predicts for parts of real campaigns, and what they show."""

from __future__ import annotations

import numpy as np
import pandas as pd

from evalkit.human.planning import equate
from evalkit.human.protocols.components import CAUSES, code, expected_difference, observed_difference

#: What campaigns are cut by, into how many equal parts, and what a part is called.
CUTS = (
    ("doc", 2, "half of the documents"),
    ("doc", 4, "a quarter of the documents"),
    ("annotator", 2, "half of the people"),
)
_TEXTS = {"text": ["doc"], "segment": ["doc", "segment"]}


def check(scored: pd.DataFrame, parts: pd.DataFrame, *, splits: int = 60, seed: int = 7) -> pd.DataFrame:
    """Cut each campaign at random and compare two parts: how far do the differences of systems differ?

    scored, parts: as in ``certainty.components``, and its result. Returns protocol, cut (a part), predicted and
    observed: the standard error of a difference between two systems in one part, in units of the systems' spread, from
    the components and who judged what, and from the parts' disagreement (root mean square over ``splits`` cuts and all
    pairs of systems); ratio.
    Caveat: people who judge in both parts bring their tastes into both, so cuts by documents do not see them; the
    components come from the same data, which tests the model's shape and not its luck.
    """
    rows = []
    for row in parts[parts["left_out"] == ""].to_dict("records"):
        own = scored[(scored["protocol"] == row["protocol"]) & (scored["item_type"] == "system")]
        coded = code(own, CAUSES | _TEXTS)
        factors = {"system": coded.system, **coded.levels}
        common = equate(coded.score, factors).solve(list(factors))
        variances = {**row, **{name: max(common[name], 0.0) for name in _TEXTS}}
        for number, (column, pieces, words) in enumerate(CUTS):
            rng = np.random.default_rng([seed, number])
            cuts = _weights(coded.system, pd.factorize(own[column])[0], pieces, splits, rng)
            found = expected_difference(coded, variances, cuts), observed_difference(coded, cuts)
            predicted, observed = (float(np.sqrt(value / 2)) / row["spread"] for value in found)
            rows.append((row["protocol"], words, predicted, observed, observed / predicted))
    return pd.DataFrame(rows, columns=["protocol", "cut", "predicted", "observed", "ratio"])


def _weights(systems: np.ndarray, codes: np.ndarray, pieces: int, splits: int, rng: np.random.Generator) -> np.ndarray:
    """Return each judgement's weight in its system's mean in one part less that in another, (splits, judgements).

    codes: the level by which the campaign is cut.
    """
    member = np.eye(int(systems.max()) + 1)[systems]
    shuffled = rng.random((splits, int(codes.max()) + 1)).argsort(axis=1) % pieces
    sides = [(shuffled == side)[:, codes].astype(float) for side in (0, 1)]
    sizes = [np.maximum(side @ member, 1)[:, systems] for side in sides]
    return np.asarray(sides[0] / sizes[0] - sides[1] / sizes[1])
