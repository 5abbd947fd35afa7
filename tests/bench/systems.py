"""Systems: strengths from comparisons beside evalica, signed ranks beside scipy."""

from functools import partial

import evalica
import numpy as np
from evalica import Winner
from scipy import stats

from evalkit.human import preferences
from evalkit.stats import inference
from tests import makers

COMPARISONS, SYSTEMS = 10_000, 100


def drawn():
    """Draw answers between systems whose strengths spread by one unit of log odds."""
    worth = dict(zip(map("s{}".format, range(SYSTEMS)), np.random.default_rng(7).normal(size=SYSTEMS)))
    return makers.comparisons(7, strengths=worth, size=COMPARISONS, people=5, documents=20, tie=0.5)


def same(ours, theirs):
    """Say how far apart two sets of log strengths are."""
    return f"apart by {np.abs(ours - (theirs - theirs.mean())).max():.0e} at most"


def strengths():
    """Yield what, goal, ours, theirs, the share of the work that theirs does here, what ours is compared with."""
    size = f"{COMPARISONS:,} comparisons of {SYSTEMS} systems"
    frame = drawn()
    asked = [frame["system_a"], frame["system_b"]]
    asked.append(frame["preference"].map({"a": Winner.X, "b": Winner.Y, "tie": Winner.Draw}))
    # evalica is compiled and gives strengths alone, ours makes cells for all that is said of a fit. With ties both take
    # hundredths of a second for 10,000 answers, which no report feels: a quarter of its speed is enough.
    theirs_of = {"half": evalica.bradley_terry, "davidson": evalica.newman}
    for ties, call in theirs_of.items():
        ours = partial(preferences.fit, frame, ties=ties)
        theirs = partial(call, *asked, tolerance=1e-10, limit=100_000)
        fitted = ours()
        told = same(fitted.strength, np.log(theirs().scores[fitted.cells.systems].to_numpy()))
        yield (
            f"strengths, ties {ties}, {size}",
            0.25 if ties == "davidson" else 1,
            ours,
            theirs,
            1,
            f"evalica.{call.__name__}; {told}",
        )


def signed_ranks():
    """Yield what, goal, ours, theirs, the share of the work that theirs does here, what ours is compared with."""
    difference = np.round(np.random.default_rng(7).normal(1, 20, (1000, 400)))
    ours = partial(inference.signed_rank, difference)
    theirs = partial(lambda rows: [stats.wilcoxon(row, alternative="greater").pvalue for row in rows], difference)
    same = "same p-values" if np.allclose(ours(), theirs()) else "other p-values"
    yield "signed ranks, 1,000 tests of 400 segments", 3, ours, theirs, 1, f"scipy test by test; {same}"


def cases():
    """Yield all of them."""
    yield from strengths()
    yield from signed_ranks()
