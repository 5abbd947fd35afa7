"""By which protocol judgements were made, as far as the data tell: the import's format, marked errors, the scores."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from evalkit.campaign.collection import of_judged
from evalkit.campaign.opening import Campaign
from evalkit.data import registry
from evalkit.data.provenance import reading_of, source_of
from evalkit.data.schemas import UNSTATED

ESA, MQM, DA, XSTS, PREFERENCES, UNKNOWN = "ESA", "MQM", "DA", "XSTS", "preferences", ""
#: The tool whose export a format is.
TOOLS = {
    "appraise": "Appraise",
    "esa": "Appraise",
    "pearmut": "Pearmut",
    "label-studio": "Label Studio",
    "doccano": "doccano",
    "prodigy": "Prodigy",
    "mturk-da": "Amazon Mechanical Turk",
}
#: What a format without marked errors says of the protocol.
_BY_FORMAT = {"xsts": XSTS, "mturk-da": DA, "appraise": DA, "preferences": PREFERENCES, "mqm": MQM, "esa": ESA}
#: Which format the files of a registered data set have, by the module that loads them.
_LOADED = {"appraise": "appraise", "esa": "esa", "mqm": "mqm", "indicmt": "mqm", "xsts": "xsts", "mturk": "mturk-da"}
#: Fewest judgements without a marked error that show whether scores are made of marked errors.
_FEWEST = 10


@dataclass(frozen=True)
class Protocol:
    """How judgements were made.

    name: one of those above; UNKNOWN where the data do not tell. tool: whose export the file is, or "". marked: errors
    in the judgements that rank systems. severities: of them, the most frequent first. typed: whether they have
    categories. weights: what they weigh, as the import told. beside: whether outputs of several systems were judged on
    one screen.
    """

    name: str
    tool: str
    marked: int
    severities: tuple[str, ...]
    typed: bool
    weights: str
    beside: bool


def protocol_of(campaign: Campaign) -> Protocol:
    """Say by which protocol a campaign was judged, and what of it the data tell."""
    reading = reading_of(campaign.ratings)
    weights = str(reading.get("receipt", {}).get("weights", ""))
    format = str(reading.get("format", "")) or _registered(campaign)
    marked = of_judged(campaign)
    name = _BY_FORMAT.get(format, UNKNOWN)
    if weights or _made_of_errors(campaign, marked):
        name = MQM
    elif len(marked) and name not in (MQM, PREFERENCES):
        name = ESA
    if marked.empty:
        return Protocol(name, TOOLS.get(format, ""), 0, (), False, weights, _beside(campaign))
    severities = marked["severity"].astype("str").value_counts().index.drop(UNSTATED, errors="ignore")
    typed = bool(marked["error_type"].astype("str").ne(UNSTATED).any())
    return Protocol(name, TOOLS.get(format, ""), len(marked), tuple(severities), typed, weights, _beside(campaign))


def _registered(campaign: Campaign) -> str:
    """Name the format of a registered data set that serves as the example; "" for a file of one's own."""
    entry = registry.entries().get(source_of(campaign.ratings)["name"]) if campaign.example else None
    return _LOADED.get(entry.loader.partition(".")[0], "") if entry else ""


def _made_of_errors(campaign: Campaign, marked: pd.DataFrame) -> bool:
    """Tell whether scores are made of marked errors, where no import says so: without errors all are the same."""
    if reading_of(campaign.ratings) or marked.empty:
        return False
    key = ["system", "doc", "segment", "annotator"]
    spotted = marked[key].astype("str").drop_duplicates()
    judged = campaign.judged[[*key, "score"]].astype(dict.fromkeys(key, "str"))
    clean = judged.merge(spotted, on=key, how="left", indicator=True).query("_merge == 'left_only'")
    return len(clean) >= _FEWEST and clean["score"].nunique() == 1 and judged["score"].nunique() > 1


def _beside(campaign: Campaign) -> bool:
    """Tell whether outputs of several systems were judged on one screen: as pairs, or most screens hold several."""
    judged = campaign.judged
    if "against" in judged:
        return True
    if reading_of(campaign.ratings).get("format") != "pearmut" or "hit" not in judged or judged.empty:
        return False
    screens = judged.groupby(["annotator", "hit", "doc", "segment"], observed=True)["system"].nunique()
    return bool((screens > 1).mean() > 0.5)
