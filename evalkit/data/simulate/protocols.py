r"""Stand-ins for one set of texts judged under several protocols, drawn from one stated model.

Translations and their quality :math:`q` are those of the simulated metrics task (``simulate.metrics``), beside a
reference with :math:`q + 1`. A person p, with strictness :math:`\delta_p \sim N(0, 6^2)`, scores under ESA
:math:`80 + 12 q + \delta_p + N(0, 10^2)`, and marks :math:`\mathrm{Poisson}((100 - y) / 25)` minor and as many major
errors. A model sees :math:`q' = q + N(0, 0.8^2)`; under ESA with suggested marks, people see
:math:`0.7 q + 0.3 q'`, and seven marks in ten are suggested ones. Under MQM the weighted errors are the score.
Degraded copies are 40 points worse. Judgements take :math:`\exp N(3.4, 0.8^2)` seconds.
"""

import numpy as np
import pandas as pd

from evalkit.data import appraise, protocols, schemas
from evalkit.data.simulate.finish import finished
from evalkit.data.simulate.metrics import translations

_SEGMENTS, _REFERENCE, _ACCOUNTS, _PEOPLE, _AGAIN = 200, "refA", 33, 9, 12


def wmt23_protocols(*, seed: int = 7) -> pd.DataFrame:
    """Draw all judgements: five collections of every translation, and a part of three judged again."""
    frame = _judged(seed).drop(columns=["minor", "major"])
    return finished(frame, seed=seed, excluded={})


def wmt23_protocols_spans(*, seed: int = 7) -> pd.DataFrame:
    """Draw the errors behind ``wmt23_protocols``, each on five characters of its own."""
    judged = _judged(seed)
    minor, major = judged["minor"].to_numpy(), judged["major"].to_numpy()
    keys = ["protocol", "src_lang", "tgt_lang", *schemas.ITEM, "annotator", "item_type", "hit", "started", "mark"]
    frame = judged[keys].loc[judged.index.repeat(minor + major)]
    number = frame.groupby(level=0).cumcount().to_numpy()
    severity = np.where(number < np.repeat(minor, minor + major), "minor", "major")
    kept = np.random.default_rng([seed, 5]).random(len(frame)) < 0.7
    suggested = frame["protocol"].str.startswith("ESAAI").to_numpy() & kept
    typed = frame["protocol"].str.startswith("MQM").to_numpy()
    frame = frame.assign(span=(number + 1).astype(str), severity=severity, side="target", start=8.0 * number)
    frame = frame.assign(error_type=np.where(typed, "accuracy/mistranslation", "other"), end=frame["start"] + 5)
    frame = frame.assign(suggested=suggested)
    return finished(frame, appraise.ESA_SPANS.also({"protocol": schemas.RATINGS.columns["hit"]}), seed=seed)


def wmt23_protocols_released(*, seed: int = 7) -> pd.DataFrame:
    """Take the scores of ``wmt23_protocols``, and draw those of the suggesting model."""
    judged = wmt23_protocols(seed=seed)
    names = ["protocol", "src_lang", "tgt_lang", *schemas.ITEM, "score"]
    people = judged.loc[judged["item_type"] != "degraded", names]
    texts = _texts(seed)
    model = texts.assign(protocol="LLM", score=-np.maximum(0, 4 - 4 * texts["seen"]).round())
    frame = pd.concat([people, model[names]], ignore_index=True)
    frame.attrs = {"seed": seed}
    return frame


def _texts(seed: int) -> pd.DataFrame:
    """List the translations, with their quality and what the model sees of it."""
    table = translations("eng", "deu", seed=seed)
    table = table[table["segment"].astype(int) <= _SEGMENTS]
    best = table[table["system"] == table["system"].iloc[0]]
    texts = pd.concat([table, best.assign(system=_REFERENCE, quality=best["quality"] + 1)], ignore_index=True)
    noise = np.random.default_rng([seed, 1]).normal(0, 0.8, len(texts))
    return texts.assign(seen=texts["quality"] + noise)


def _judged(seed: int) -> pd.DataFrame:
    """Draw the judgements with the numbers of their errors, in the order of time."""
    texts = _texts(seed)
    units = texts.groupby(["system", "doc"], sort=False).ngroup()
    account = np.random.default_rng([seed, 2]).integers(0, _ACCOUNTS, units.max() + 1)[units]
    texts = texts.assign(account=account)
    copies = texts[np.random.default_rng([seed, 3]).random(len(texts)) < 0.1]
    shown = pd.concat([texts.assign(mark="", loss=0.0), copies.assign(mark="bad", loss=40.0)], ignore_index=True)
    frames = []
    for number, protocol in enumerate(protocols.EXPORTS):
        again = protocol in protocols.AGAIN
        part = shown[shown["account"] < _AGAIN] if again else shown
        frames.append(_collected(part, protocol, np.random.default_rng([seed, 4, number]), again=again))
    return pd.concat(frames, ignore_index=True)


def _collected(shown: pd.DataFrame, protocol: str, rng: np.random.Generator, *, again: bool) -> pd.DataFrame:
    """Draw one collection."""
    person = shown["account"].to_numpy() % (_AGAIN if again else _PEOPLE)
    seen = shown["quality"] if "AI" not in protocol else 0.7 * shown["quality"] + 0.3 * shown["seen"]
    noise = rng.normal(0, 6, _ACCOUNTS)[person] + rng.normal(0, 10, len(shown))
    score = np.clip(80 + 12 * seen.to_numpy() - shown["loss"].to_numpy() + noise, 0, 100).round()
    minor, major = (rng.poisson((100 - score) / 25) for _ in range(2))
    if protocol.startswith("MQM"):
        score = -(minor + 5.0 * major)
    hit = np.array([f"sim-{protocol}-{number:02d}" for number in range(_ACCOUNTS)], dtype=object)[shown["account"]]
    frame = shown.drop(columns=["quality", "seen", "loss", "account"]).assign(
        protocol=protocol, score=score, minor=minor, major=major, errors=minor + major, hit=hit
    )
    frame["annotator"] = hit if again else [f"sim-{protocol}-person-{number}" for number in person]
    kinds = [frame["mark"] == "bad", frame["system"] == _REFERENCE]
    frame["item_type"] = np.select(kinds, ["degraded", "reference"], "system")
    frame["copy"] = frame["mark"] == "bad"
    frame = frame.sort_values(["hit", "doc", "system", "mark"], kind="stable", ignore_index=True)
    frame["position"] = frame.groupby("hit").cumcount()
    seconds = pd.Series(np.exp(rng.normal(3.4, 0.8, len(frame))))
    frame["ended"] = 1.7e9 + seconds.groupby(frame["hit"]).cumsum().round(3)
    return frame.assign(started=frame["ended"])
