"""Find the weights behind shipped scores, and count how many rows each candidate scheme explains."""

from __future__ import annotations

import numpy as np
import pandas as pd

from evalkit.data.schemas import UNSTATED
from evalkit.data.typology import SCHEMES, SEVERITIES
from evalkit.human.mqm.scores import KEY, segment_scores

_TOP = 25.0  # the shipped score of a translation without errors
#: Points by which a score may miss and still count as equal: the shipped scores are multiples of a half.
_EQUAL = 1e-9


def single_errors(ratings: pd.DataFrame, spans: pd.DataFrame) -> pd.DataFrame:
    """Read weights off the judgements with exactly one error: there, 25 less the score is the error's weight.

    Returns kind (non-translation, source error, any other), severity, n, weight (the commonest), agreeing (how many of
    the n show it), smallest, largest. Nothing is assumed about the weights except that errors' weights are subtracted.
    """
    one = spans[~spans.duplicated(KEY, keep=False)]
    names = [*KEY, "error_type", "severity"]
    joined = one[names].astype("str").merge(ratings[[*KEY, "score"]], on=KEY, how="left", validate="one_to_one")
    special = joined["error_type"].isin(["non-translation", "source error"])
    joined = joined.assign(kind=joined["error_type"].where(special, "any other"), weight=_TOP - joined["score"])
    rows = []
    for (kind, severity), group in joined.groupby(["kind", "severity"]):
        usual = group["weight"].mode().iloc[0]
        agreeing = int(np.isclose(group["weight"], usual, atol=_EQUAL).sum())
        rows.append((kind, severity, len(group), usual, agreeing, group["weight"].min(), group["weight"].max()))
    table = pd.DataFrame(rows, columns=["kind", "severity", "n", "weight", "agreeing", "smallest", "largest"])
    order = {name: place for place, name in enumerate([*SEVERITIES, UNSTATED])}
    return table.sort_values(
        ["kind", "severity"], key=lambda c: c.map(order).fillna(-1) if c.name == "severity" else c, ignore_index=True
    )


def explain(ratings: pd.DataFrame, spans: pd.DataFrame, *, by: str = "tgt_lang") -> pd.DataFrame:
    """Count the rows whose shipped score a scheme gives exactly: by, scheme, rows_equal, rows.

    Schemes with another top than the shipped scores' 25 are shifted to it: what is compared are the weights. A row that
    a scheme discards, and that has a shipped score, is not explained.
    """
    rows = []
    for name in SCHEMES:
        scored = segment_scores(ratings, spans, name)
        shift = _TOP - SCHEMES[name].top
        equal = np.isclose(scored["mqm"] + shift, ratings["score"].to_numpy(), rtol=0, atol=_EQUAL)
        counts = pd.Series(equal).groupby(ratings[by].to_numpy(), sort=False).agg(["sum", "size"])
        rows += [(group, name, int(total), int(size)) for group, total, size in counts.itertuples()]
    return pd.DataFrame(rows, columns=[by, "scheme", "rows_equal", "rows"])


def odd_rows(ratings: pd.DataFrame, spans: pd.DataFrame, *, scheme: str = "release") -> pd.DataFrame:
    """Name the rows whose shipped score a scheme does not give, with their errors and what the scheme gives."""
    scored = segment_scores(ratings, spans, scheme)["mqm"].to_numpy() + _TOP - SCHEMES[scheme].top
    odd = ratings[~np.isclose(scored, ratings["score"].to_numpy(), rtol=0, atol=_EQUAL)]
    typed = spans.astype({"error_type": "str", "severity": "str"})
    typed = typed.assign(marked=typed["error_type"] + " (" + typed["severity"] + ")").astype(dict.fromkeys(KEY, "str"))
    marked = typed.groupby(KEY, sort=False)["marked"].agg("; ".join).rename("errors").reset_index()
    columns = [name for name in ("tgt_lang", "row", "system", "segment", "score") if name in odd]
    table = odd[[*dict.fromkeys([*KEY, *columns])]].merge(marked, on=KEY, how="left")
    given = scored[ratings.index.get_indexer(odd.index)]
    return table[[*columns, "errors"]].assign(given=given).fillna({"errors": "none"})
