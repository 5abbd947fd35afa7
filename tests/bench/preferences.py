"""Strengths from comparisons, beside evalica (compiled) and choix."""

from functools import partial

import choix
import evalica
import numpy as np
import pandas as pd
from evalica import Winner

from evalkit.human import preferences

COMPARISONS, SYSTEMS = 10_000, 100
DRAWS = 200


def drawn(ties):
    """Draw answers between systems whose strengths spread by one unit of log odds."""
    rng = np.random.default_rng(7)
    worth = rng.normal(0, 1, SYSTEMS)
    a = rng.integers(0, SYSTEMS, COMPARISONS)
    b = (a + rng.integers(1, SYSTEMS, COMPARISONS)) % SYSTEMS
    won = rng.random(COMPARISONS) < 1 / (1 + np.exp(worth[b] - worth[a]))
    answer = np.where(rng.random(COMPARISONS) < ties, "tie", np.where(won, "a", "b"))
    names = np.char.add("s", np.arange(SYSTEMS).astype(str))
    return pd.DataFrame(
        {
            "system_a": names[a],
            "system_b": names[b],
            "preference": answer,
            "annotator": rng.choice(list("pqrst"), COMPARISONS),
            "src_lang": "x",
            "tgt_lang": "y",
            "doc": rng.choice(list("abcdefghijklmnopqrst"), COMPARISONS),
        }
    )


def same(ours, theirs):
    """Say how far apart two sets of log strengths are."""
    return f"apart by {np.abs(ours - (theirs - theirs.mean())).max():.0e} at most"


def cases():
    """Yield what, goal, ours, theirs, the share of the work that theirs does here, what ours is compared with."""
    size = f"{COMPARISONS:,} comparisons of {SYSTEMS} systems"
    frame = drawn(0.2)
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
    frame = drawn(0)
    won, names = frame["preference"].eq("a"), sorted({*frame["system_a"], *frame["system_b"]})
    winner, loser = frame["system_a"].where(won, frame["system_b"]), frame["system_b"].where(won, frame["system_a"])
    pairs = list(zip(winner.map(names.index), loser.map(names.index)))
    ours = partial(preferences.fit, frame)
    theirs = partial(choix.opt_pairwise, SYSTEMS, pairs, alpha=0)
    told = same(ours().strength, theirs())
    yield f"strengths, no ties, {size}", 1, ours, theirs, 1, f"choix.opt_pairwise; {told}"
    ours = partial(preferences.standing, frame, resamples=DRAWS)
    theirs = partial(
        lambda: [
            evalica.bradley_terry(frame["system_a"], frame["system_b"], won.map({True: Winner.X, False: Winner.Y}))
            for _ in range(DRAWS // 20)
        ]
    )
    yield f"intervals, {DRAWS} draws, {size}", 1, ours, theirs, 1 / 20, "one evalica.bradley_terry a draw"
