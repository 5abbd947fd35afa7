"""Choose what everybody judges: items that earlier annotators agreed on or, without any, whole documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.campaign.design.assignment import Item, Screen, columns
from evalkit.campaign.design.texts import Texts
from evalkit.data.provenance import scale_of
from evalkit.human import calibration_sets

if TYPE_CHECKING:
    from evalkit.campaign.design.drawing import Wish

#: Levels of quality of which a calibration set has equally many items, evenly over the scale (Licht et al. 2022).
LEVELS = 5
_SCREEN = 10  # items of a screen


def calibration_screens(
    texts: Texts, wish: Wish, rng: np.random.Generator, *, prior: pd.DataFrame | None, notes: list[str]
) -> tuple[list[Screen], tuple[str, ...]]:
    """Return the screens of the calibration set, and the documents that they come from, which nobody judges otherwise.

    prior: earlier ratings of these texts: then the items are those agreed upon, as many for each level of quality.
    Without, whole documents are drawn, one by this and one by that system.
    """
    if not wish.calibration:
        return [], ()
    if prior is not None:
        return _agreed(texts, wish, prior, rng, notes)
    screens, reserved = _drawn(texts, wish, rng)
    have = sum(screen.judgements for screen in screens)
    wanted = f"{wish.calibration} translations were wanted (--calibration)"
    notes.append(
        f"without earlier ratings (--pilot) the calibration set is drawn by chance, whole documents of it: it has "
        f"{have}, where {wanted}"
        if have
        else f"there is no calibration set: {wanted}, and it takes whole documents, which are too long or too few"
    )
    return screens, reserved


def _drawn(texts: Texts, wish: Wish, rng: np.random.Generator) -> tuple[list[Screen], tuple[str, ...]]:
    """Draw documents until there are about as many items as wanted; systems take turns."""
    systems = [name for name in texts.outputs if name not in texts.humans] or list(texts.outputs)
    docs, groups = list(texts.documents), columns(systems, wish.protocol.together)
    turn = rng.permutation(len(groups))
    screens: list[Screen] = []
    for doc in (docs[place] for place in rng.permutation(len(docs))):
        group = groups[int(turn[len(screens) % len(groups)])]
        more = len(texts.documents[doc]) * len(group)
        have = sum(screen.judgements for screen in screens)
        if len(screens) < len(docs) - 1 and abs(have + more - wish.calibration) < abs(have - wish.calibration):
            kinds = ("calibration",) * len(group)
            screens.append(
                Screen(
                    doc,
                    "calibration",
                    tuple(
                        Item(place, group, kinds, tuple(texts.outputs[system][place] for system in group))
                        for place in texts.documents[doc]
                    ),
                )
            )
    return screens, tuple(screen.doc for screen in screens)


def _agreed(
    texts: Texts, wish: Wish, prior: pd.DataFrame, rng: np.random.Generator, notes: list[str]
) -> tuple[list[Screen], tuple[str, ...]]:
    """Choose items that earlier annotators agreed on, and show each by itself, in an order by chance."""
    place = {(doc, segment): number for number, (doc, segment) in enumerate(zip(texts.docs, texts.segments))}
    here = [
        (str(row.doc), str(row.segment)) in place and str(row.system) in texts.outputs for row in prior.itertuples()
    ]
    known = prior[here]
    if known.empty:
        raise DataError(
            "None of the earlier ratings (--pilot) is of these documents, segments and systems, so no calibration set "
            "can be chosen of them. Name them alike, or pass --calibration 0."
        )
    levels = np.linspace(*scale_of(prior), LEVELS)
    half = float(levels[1] - levels[0]) / 2
    steps = [float(level) for level in levels]
    agreed = calibration_sets.agreed_items(known, levels=steps, tolerance=half, share=0.5)["level"].value_counts()
    fewest = LEVELS * int(agreed.reindex(steps, fill_value=0).min())
    chosen = calibration_sets.choose_set(
        known,
        per_level=max(1, wish.calibration // LEVELS),
        levels=steps,
        tolerance=half,
        share=0.5,
        seed=wish.seed,
        remedy=f"Pass --calibration {fewest}, or a larger --pilot.",
    )
    others: Sequence[str] = sorted(texts.outputs)
    items = []
    for row in (chosen.iloc[int(number)] for number in rng.permutation(len(chosen))):
        segment, system = place[str(row["doc"]), str(row["segment"])], str(row["system"])
        group = (system, *(other for other in others if other != system))[: wish.protocol.together or None]
        texts_shown = tuple(texts.outputs[one][segment] for one in group)
        items.append(Item(segment, group, ("calibration",) * len(group), texts_shown))
    notes.append(
        f"the calibration set has {sum(item.judgements for item in items)} translations, equally many for each of "
        f"{LEVELS} levels of the pilot's scores, where {wish.calibration} were wanted (--calibration)"
    )
    screens = [
        Screen("", "calibration", tuple(items[start : start + _SCREEN])) for start in range(0, len(items), _SCREEN)
    ]
    return screens, tuple(sorted({texts.docs[item.segment] for item in items}))
