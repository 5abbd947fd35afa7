"""Look for translations that contradict their reference: visible signs, simple rules, and what signals make of them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from evalkit import DataError
from evalkit.papers.sudoh2021.features import checked, negations, numbers, opposed
from evalkit.papers.sudoh2021.labels import superiority
from evalkit.papers.sudoh2021.taxonomy import KEY, categories
from evalkit.stats.inference import interval, resample

SPLITS = ("train", "dev", "test")
LABEL = "Contradiction"
#: Signs that a rule can see, and what each means.
SIGNS = {
    "number": "the two texts do not have the same numbers",
    "negation": "one text has more negations than the other",
    "opposites": "one text has a word whose opposite stands in the other (a short list)",
}


def with_signs(translations: pd.DataFrame) -> pd.DataFrame:
    """Mark which signs of a contradiction each translation shows: adds a boolean column per sign.

    >>> one = {"hypothesis": "It is our duty", "reference": "It is not our duty", "split": "train"}
    >>> with_signs(pd.DataFrame([one]))[list(SIGNS)].iloc[0].to_dict()
    {'number': False, 'negation': True, 'opposites': False}
    """
    checked(translations)
    rows = [_signs(str(said), str(meant)) for said, meant in zip(translations["hypothesis"], translations["reference"])]
    return translations.join(pd.DataFrame(rows, columns=list(SIGNS), index=translations.index, dtype=bool))


def sign_shares(examples: pd.DataFrame) -> pd.DataFrame:
    """Return how often each sign is seen among translations of each label.

    examples: as ``with_signs`` gives them, with split and true. Returns split, label, n, a share per sign, and "none of
    them".
    """
    seen = examples[["split", *SIGNS]].assign(label=examples["true"])
    seen["none of them"] = ~seen[list(SIGNS)].any(axis=1)
    grouped = seen.dropna(subset=["label"]).groupby(["split", "label"], sort=False)
    table = grouped[[*SIGNS, "none of them"]].mean()
    table.insert(0, "n", grouped.size())
    order = {name: place for place, name in enumerate([*SPLITS, *categories("adequacy")])}
    return table.reset_index().sort_values(["split", "label"], key=lambda column: column.map(order), ignore_index=True)


def rules(examples: pd.DataFrame, *, resamples: int = 500, seed: int = 7) -> pd.DataFrame:
    """Judge simple rules on test rows: how many contradictions they find, and how much of what they find is one.

    examples: as ``with_signs`` gives them, with split, true and sentence. A rule flags a translation that shows its
    sign; "any of them" each that shows one. Returns rule, flagged, right (counts), precision, precision_low,
    precision_high, recall, recall_low, recall_high (95 %, by a bootstrap over sentences), and by_chance: the share of
    contradictions, which is the precision of flagging at random. Raises DataError where there is none.
    """
    rows = examples[examples["split"].eq("test") & examples["true"].notna()]
    truly = rows["true"].eq(LABEL).to_numpy()
    if not truly.any():
        raise DataError(f"No translation of the split test is labelled {LABEL}, so no rule for it can be judged.")
    seen = rows[list(SIGNS)]
    flags = {name: seen[name].to_numpy() for name in SIGNS}
    flags["any of them"] = seen.any(axis=1).to_numpy()
    flagged = np.array(list(flags.values()), float).T
    hits = flagged * truly[:, None]
    draws = resample(_rates(flagged, hits, truly), rows["sentence"].to_numpy(), resamples=resamples, seed=seed)
    low, high = interval(draws)
    totals = flagged.sum(axis=0)
    table = pd.DataFrame({"rule": list(flags), "flagged": totals.astype(int), "right": hits.sum(axis=0).astype(int)})
    table["precision"] = np.divide(hits.sum(axis=0), totals, out=np.full(len(totals), np.nan), where=totals > 0)
    table["precision_low"], table["precision_high"] = low[0], high[0]
    table["recall"] = hits.sum(axis=0) / truly.sum()
    table["recall_low"], table["recall_high"] = low[1], high[1]
    return table.assign(by_chance=truly.mean())


def treatment(predictions: pd.DataFrame) -> pd.DataFrame:
    """Return what each model calls the true contradictions, as shares of them.

    predictions: model, true, predicted. Returns model, predicted, count, share; only labels that were given.
    """
    rows = predictions[predictions["true"] == LABEL]
    table = rows.groupby(["model", "predicted"], sort=False).size().rename("count").reset_index()
    table["share"] = table["count"] / table.groupby("model")["count"].transform("sum")
    return table.sort_values(["model", "count"], ascending=[True, False], kind="stable", ignore_index=True)


def above_label(examples: pd.DataFrame) -> pd.DataFrame:
    """Return, for each other label, how often direct assessment puts a contradiction above a translation with it.

    examples: split, true, z; those of the split test count. Returns label, n, mean_z, above: the share of pairs in
    which the contradiction has the higher z (ties half); 0.5 means that DA does not distinguish the two.

    >>> rows = pd.DataFrame({"split": "test", "true": ["Contradiction", "Serious"], "z": [0.0, -1.0]})
    >>> above_label(rows)[["label", "above"]].values.tolist()
    [['Serious', 1.0]]
    """
    rows = examples[examples["split"] == "test"].dropna(subset=["true", "z"])
    own = rows.loc[rows["true"] == LABEL, "z"].to_numpy()
    others = rows[rows["true"] != LABEL].groupby("true")["z"]
    found = [(label, len(z), z.mean(), superiority(own, z) if len(own) else np.nan) for label, z in others]
    return pd.DataFrame(found, columns=["label", "n", "mean_z", "above"]).sort_values("mean_z", ignore_index=True)


def shown(examples: pd.DataFrame, predictions: pd.DataFrame) -> pd.DataFrame:
    """Pick short contradictions of the split test: two for each sign, two with several, and two that show none.

    examples: as ``with_signs`` gives them, with ``KEY``, split, true, z. predictions: of one model, same ``KEY``.
    Returns sign, hypothesis, reference, z, predicted; the same rows every time: those with the shortest references of
    six words or more.
    """
    rows = examples[examples["split"].eq("test") & examples["true"].eq(LABEL)]
    seen = rows[list(SIGNS)]
    kind = np.where(seen.sum(axis=1) == 0, "none", np.where(seen.sum(axis=1) > 1, "several", ""))
    single = seen.idxmax(axis=1).to_numpy() if len(seen) else np.array([], dtype=object)
    rows = rows.assign(sign=np.where(kind == "", single, kind), size=rows["reference"].str.len())
    rows = rows[rows["reference"].str.split().str.len() >= 6].sort_values(["size", *KEY], kind="stable")
    picked = rows.groupby("sign", sort=True).head(2).merge(predictions[[*KEY, "predicted"]], on=KEY, how="left")
    order = {name: place for place, name in enumerate([*SIGNS, "several", "none"])}
    picked = picked.sort_values("sign", key=lambda column: column.map(order), kind="stable", ignore_index=True)
    return picked[["sign", "hypothesis", "reference", "z", "predicted"]]


def _signs(said: str, meant: str) -> tuple[bool, bool, bool]:
    return numbers(said) != numbers(meant), negations(said) != negations(meant), opposed(said, meant) > 0


def _rates(flagged: np.ndarray, hits: np.ndarray, truly: np.ndarray):
    """Make the statistic of a bootstrap: precision and recall of each rule, (batch, 2, rules)."""

    def statistic(counts: np.ndarray) -> np.ndarray:
        found, right = counts @ flagged, counts @ hits
        return np.stack([right / np.maximum(found, 1), right / np.maximum(counts @ truly, 1)[:, None]], axis=1)

    return statistic
