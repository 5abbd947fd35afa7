"""What annotators were shown together, screen by screen, in the order of time where the file tells it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from evalkit.campaign.opening import Campaign
from evalkit.data.provenance import reading_of
from evalkit.human.adaptive import Log


@dataclass(frozen=True, eq=False)
class Screens:
    """A pair's screens × systems: what one annotator judged of one text at a time.

    scores: mean of a screen's judgements of a system, NaN where it was not shown. judgements: how many these are.
    probability: that the screen showed it, NaN where that is not known. ordered: whether screens stand in the order of
    time. days: days since 1970 on which they began, or None. written: whether the file has probabilities at all.
    """

    systems: tuple[str, ...]
    scores: np.ndarray
    judgements: np.ndarray
    probability: np.ndarray
    ordered: bool
    days: np.ndarray | None
    written: bool

    @property
    def log(self) -> Log:
        """The same as one campaign of a log."""
        return Log(self.scores[None], np.nan_to_num(self.probability)[None])

    @property
    def shown(self) -> np.ndarray:
        """Which systems each screen showed."""
        return self.judgements > 0

    @property
    def plain(self) -> np.ndarray:
        """The mean of all judgements of each system."""
        return np.nansum(self.scores * self.judgements, axis=0) / self.judgements.sum(axis=0)


def of_campaign(campaign: Campaign) -> Screens:
    """Lay out the judgements that rank systems as screens.

    A screen of Pearmut is an entry of its log, in whose order they are. Elsewhere it is what an annotator judged of a
    document, or of a segment where there are no documents, in one HIT; its time is when its first judgement began.
    """
    judged, logged = campaign.judged, reading_of(campaign.ratings).get("format") == "pearmut"
    timed = "started" in judged and len(judged) > 0 and bool(judged["started"].notna().all())
    text = ["doc"] if judged["doc"].nunique() > 1 else list(campaign.segment)
    own = ["hit", *["started"] * timed] if logged else [*(["hit"] if "hit" in judged else []), *text]
    number = judged.groupby(["annotator", *own], sort=False).ngroup().to_numpy()
    began = judged["started"].groupby(number).min() if timed else pd.Series(np.arange(number.max(initial=-1) + 1))
    place = began.sort_values(kind="stable").index
    written = "probability" in judged
    table = judged.assign(screen=number, probability=judged["probability"] if written else np.nan)
    cells = (
        table.groupby(["screen", "system"])
        .agg(score=("score", "mean"), judgements=("score", "size"), probability=("probability", "mean"))
        .unstack("system")
    )
    cells = cells.reindex(place)
    days = np.floor(began[place].to_numpy() / 86400) if timed else None
    scores, counts, chance = (cells[name].to_numpy(float) for name in ("score", "judgements", "probability"))
    systems = tuple(map(str, cells["score"].columns))
    return Screens(systems, scores, np.nan_to_num(counts), chance, timed or logged, days, written)
