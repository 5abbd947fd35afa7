r"""Stand-ins for metrics tasks, and for judgements of the same texts: all rest on one quality of each translation.

Translation n of system s has the quality :math:`q_{sn} = \alpha_s + \beta_n + \epsilon_{sn}`, with
:math:`\alpha_s \sim N(0, 0.5^2)`, :math:`\beta_n \sim N(0, 0.6^2)`, :math:`\epsilon \sim N(0, 0.6^2)`. Two percent of
translations are another system's, letter by letter, and share its quality. Metric m reports
:math:`\lambda_m q + \sqrt{1 - \lambda_m^2}\, e` with noise :math:`e \sim N(0, 1)` of its own, the same for the same
text; every fourth metric rounds to steps of 0.5, and so ties. People who score mean :math:`y = 80 + 12 q`; where they
mark errors, these are :math:`\mathrm{Poisson}((100 - y) / 20)` minor and :math:`\mathrm{Poisson}((100 - y) / 50)` major
ones, the k-th of them on five characters at 8 k.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from evalkit.data import schemas
from evalkit.data.mtme import constant, stacked
from evalkit.data.simulate import recipes
from evalkit.data.simulate.campaign import Behaviour, Control, Design, campaign, finished
from evalkit.data.simulate.standins import campaigns

_DOCUMENT = 10  # segments in a document
#: Pairs of systems, by number, that share a screen; some share none with others, even through third ones.
_SCREENS = np.array([(1, 2), (3, 4), (5, 6), (7, 8), (8, 9)])


@dataclass(frozen=True)
class Task:
    """Say how large a simulated metrics task of one language pair is. judged: segments that humans scored."""

    pair: str
    systems: int
    segments: int
    judged: int

    def rng(self, seed: int, *what: str) -> np.random.Generator:
        """Give each language pair and purpose its own stream of numbers, so that all tables fit together."""
        return np.random.default_rng([seed, *"|".join([self.pair, *what]).encode()])

    def quality(self, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Draw the quality of each translation, systems × segments, and whose text it is."""
        rng, shape = self.rng(seed, "quality"), (self.systems, self.segments)
        quality = rng.normal(0, 0.5, (self.systems, 1)) + rng.normal(0, 0.6, self.segments) + rng.normal(0, 0.6, shape)
        whose = np.repeat(np.arange(self.systems)[:, None], self.segments, axis=1)
        whose[rng.random(shape) < 0.02] = 0  # the first system's text
        return np.take_along_axis(quality, whose, axis=0), whose

    def table(self, scores: np.ndarray, **names: str) -> pd.DataFrame:
        """Lay scores, systems × segments, out as rows, with names that are the same in all."""
        systems, segments = scores.shape
        place = np.tile(np.arange(segments), systems)
        docs = [f"sim-doc-{number + 1:02}" for number in range(-(-segments // _DOCUMENT))]
        source, _, target = self.pair.partition("-")
        named = {"src_lang": source, "tgt_lang": target, **names}
        return pd.DataFrame(
            {
                **{name: constant(value, scores.size) for name, value in named.items()},
                "system": pd.Categorical.from_codes(
                    np.repeat(np.arange(systems), segments), [f"sim-system-{n + 1}" for n in range(systems)]
                ),
                "doc": pd.Categorical.from_codes(place // _DOCUMENT, docs),
                "segment": pd.Categorical.from_codes(place, [str(n + 1) for n in range(segments)]),
                "score": scores.ravel(),
            }
        )

    def documents(self, seed: int, count: int) -> np.ndarray:
        """Return what people mean of the first documents: systems × documents × segments."""
        return 80 + 12 * self.quality(seed)[0][:, : count * _DOCUMENT].reshape(self.systems, count, _DOCUMENT)


def tasks(name: str) -> list[Task]:
    """Return the tasks of a year, a language pair each."""
    return [Task(pair, *sizes) for pair, sizes in recipes()["tasks"][name].items()]


def metrics(*, task: str, metrics: int, references: list[str], seed: int) -> pd.DataFrame:
    """Draw segment scores of metrics, which read the references, or none (src), in turn."""
    frames = []
    for one in tasks(task):
        quality, whose = one.quality(seed)
        for number, weight in enumerate(np.linspace(0.1, 0.75, metrics)):
            name = f"sim-metric-{number + 1:02}"
            noise = np.take_along_axis(one.rng(seed, name).normal(0, 1, quality.shape), whose, axis=0)
            score = weight * quality + np.sqrt(1 - weight**2) * noise
            score = (2 * score).round() / 2 + 0.0 if number % 4 == 0 else score
            frames.append(one.table(score, metric=name, reference=references[number % len(references)]))
    return finished(stacked(frames), schemas.METRIC_SCORES, seed=seed)


def humans(*, task: str, seed: int) -> pd.DataFrame:
    """Draw MQM (0 to -25, errors subtracted) and DA+SQM (0 to 100) of the judged segments."""
    frames = []
    for one in tasks(task):
        quality, rng = one.quality(seed)[0][:, : one.judged], one.rng(seed, "human")
        errors = np.maximum(0, 2.5 - 3.0 * (quality + rng.normal(0, 0.5, quality.shape))).round()
        frames.append(one.table(-np.minimum(errors, 25), metric="mqm"))
        frames.append(one.table(_assessed(quality, rng), metric="da-sqm"))
    return finished(stacked(frames), schemas.METRIC_SCORES, seed=seed)


def assessments(*, task: str, seed: int) -> pd.DataFrame:
    """Draw direct assessments (0-100, one judgement each) of the judged segments."""
    frames = []
    for one in tasks(task):
        score = _assessed(one.quality(seed)[0][:, : one.judged], one.rng(seed, "human"))
        z = (score.ravel() - score.mean()) / score.std()
        frames.append(one.table(score, metric="DA").assign(z=z, judgements=1))
    return finished(stacked(frames), schemas.METRIC_SCORES, seed=seed)


def _assessed(quality: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw scores from 0 to 100 that people give translations of some quality."""
    return (75 + 15 * (quality + rng.normal(0, 1.2, quality.shape))).round().clip(0, 100)


def single(*, task: str, seed: int) -> pd.DataFrame:
    """Draw standardised assessments of 560 single translations a pair with their texts, as WMT17's."""
    frames = []
    for one in tasks(task):
        quality, rng = one.quality(seed)[0], one.rng(seed, "human")
        frame = one.table(quality + rng.normal(0, 0.4, quality.shape), metric="DA")
        frame = frame.assign(together=frame["system"].astype("str"), hypothesis=_texts(one, seed)["hypothesis"])
        drawn = np.sort(rng.permutation(len(frame))[: one.judged])
        frames.append(frame.iloc[drawn].reset_index(drop=True))
    return finished(stacked(frames), schemas.METRIC_SCORES, seed=seed)


def averages(*, of: str, seed: int) -> pd.DataFrame:
    """Average the segment scores of another recipe over each system."""
    from evalkit.data.simulate import stand_in

    scores = stand_in(of, seed=seed)
    keys = [name for name in ("src_lang", "tgt_lang", "system", "metric", "reference") if name in scores]
    table = scores.groupby(keys, observed=True)["score"].mean().reset_index()
    return finished(table, schemas.SYSTEM_SCORES, seed=seed)


def outputs(*, task: str, seed: int) -> pd.DataFrame:
    """Write the outputs: made-up texts, equal where a translation is another system's."""
    frame = pd.concat([_texts(one, seed) for one in tasks(task)], ignore_index=True)
    frame.attrs["seed"] = seed
    return frame


def _texts(task: Task, seed: int) -> pd.DataFrame:
    """Write a text for each translation."""
    quality, whose = task.quality(seed)
    frame = task.table(quality).drop(columns="score").astype("str")
    base = "Simulated text of segment " + frame["segment"] + " of a test set that nobody has ever translated"
    hypothesis = base + [f", version {number + 1}" for number in whose.ravel()]
    return frame.assign(domain="sim", source=base, reference=base, hypothesis=hypothesis)


def ratings(*, of: str, seed: int, scale: tuple[float, float] | None = None, **_: object) -> pd.DataFrame:
    """Draw the judgements of a collection of this module."""
    frame = _COLLECTIONS[of](seed).drop(columns=["minor", "major", "typed"])
    return finished(frame, schemas.RATINGS.also(key=["protocol"]), seed=seed, scale=scale, excluded={})


def spans(*, of: str, also: list[str], seed: int) -> pd.DataFrame:
    """Draw the errors behind ``ratings``. also: columns of the judgements that errors have, too."""
    return errors(_COLLECTIONS[of](seed), also, seed)


def with_errors(frame: pd.DataFrame, typed: pd.Series | bool, seed: int) -> pd.DataFrame:
    """Draw how many minor and major errors each judgement marks; under MQM (typed), they are the score."""
    rng, lost = np.random.default_rng([seed, 11]), 100 - frame["score"]
    frame = frame.assign(minor=rng.poisson(lost / 20), major=rng.poisson(lost / 50), typed=typed)
    frame["major"] = np.minimum(frame["major"], 11)
    frame["minor"] = np.minimum(frame["minor"], 11 - frame["major"])  # the texts hold no more
    return frame.assign(score=frame["score"].where(~frame["typed"], 0.0 - frame["minor"] - 5.0 * frame["major"]))


def errors(judged: pd.DataFrame, also: list[str], seed: int) -> pd.DataFrame:
    """Lay the errors of ``with_errors`` out as rows, with the columns ``also`` of the judgements."""
    rng = np.random.default_rng([seed, 12])
    frame = judged.loc[judged.index.repeat(judged["minor"] + judged["major"])]
    number = frame.groupby(level=0).cumcount()
    major, drawn = number >= frame["minor"], rng.random(len(frame))
    kinds = [frame["typed"] & (drawn < 0.6), frame["typed"], drawn < 0.1]
    kind = np.select(kinds, ["accuracy/mistranslation", "fluency/grammar", "omission"], "other")
    start = (8.0 * number).where(kind != "omission")
    frame = frame.assign(
        span=(number + 1).astype("str"),
        error_type=kind,
        severity=np.where(major, "major", "minor"),
        side="target",
        start=start,
        end=start + 5,
        weight=np.where(major, 5.0, 1.0),
        suggested=rng.random(len(frame)) < 0.7,
    )
    if "protocol" in also:
        frame["suggested"] &= frame["protocol"].str.startswith("ESAAI")
        frame["weight"] = frame["weight"].where(frame["typed"])
    if "text" in also:
        frame["text"] = [text[8 * n : 8 * n + 5] for text, n in zip(frame["hypothesis"], number, strict=True)]
    names = [
        "src_lang",
        "tgt_lang",
        *schemas.ITEM,
        "annotator",
        "span",
        "error_type",
        "severity",
        "side",
        "start",
        "end",
    ]
    key = [name for name in also if name in ("protocol", "item_type", "hit", "started", "mark", "against")]
    return finished(frame[names + also].reset_index(drop=True), schemas.SPANS.also(key=key), seed=seed)


def _protocols(seed: int) -> pd.DataFrame:
    """Draw one set of texts judged under several protocols, and a part of them judged again by others.

    A model sees :math:`q' = q + N(0, 0.8^2)`; under ESA with suggested marks people see :math:`0.7 q + 0.3 q'`.
    Degraded copies are 40 points worse.
    """
    true, seen = _meant(seed)
    frames = []
    for number, protocol in enumerate(recipes()["tasks"]["protocols"]):
        again = protocol.endswith("IAA")
        meant = (0.7 * true + 0.3 * seen if "AI-" in protocol else true)[:, : 7 if again else None]
        sizes = {"systems": len(meant), "documents": meant.shape[1], "segments": _DOCUMENT, "annotators": 9 + 3 * again}
        frame = campaign(
            design=Design(("eng", "deu"), judgements=1, hit=80, mixed=len(meant), through=True, **sizes),
            behaviour=Behaviour(sd_bias=6, sd_gain=0, sd_noise=10),
            control=Control(copies=1, degraded=1.0, loss=40),
            true=meant,
            seed=[seed, number],
        )
        for name in ("annotator", "hit"):
            frame[name] = frame[name].str.replace("sim-", f"sim-{protocol}-")
        frames.append(frame.assign(protocol=protocol, annotator=frame["hit"] if again else frame["annotator"]))
    frame = pd.concat(frames, ignore_index=True)
    copy, last = frame["item_type"].eq("degraded"), frame["system"].eq(f"sim-system-{len(true)}")
    frame = frame.assign(copy=copy, mark=np.where(copy, "bad", ""), position=frame.groupby("hit").cumcount())
    frame["item_type"] = frame["item_type"].mask(last & ~copy, "reference")
    frame["system"] = frame["system"].mask(last, "refA")
    frame = with_errors(frame, frame["protocol"].str.startswith("MQM"), seed)
    return frame.assign(errors=frame["minor"] + frame["major"])


def _meant(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return what people mean of twenty documents, and what a model sees of that; last comes a better reference."""
    task = tasks("wmt23")[0]
    true = task.documents(seed, 20)
    true = np.concatenate([true, true[:1] + 12])
    return true, true + 12 * task.rng(seed, "model").normal(0, 0.8, true.shape)


def released(*, seed: int) -> pd.DataFrame:
    """Take the scores of all protocols but for degraded copies, and draw those of the suggesting model."""
    judged, seen = _protocols(seed), _meant(seed)[1].reshape(13, -1)
    model = tasks("wmt23")[0].table(-np.maximum(0, 4 - (seen - 80) / 3).round(), protocol="LLM")
    names = ["protocol", "src_lang", "tgt_lang", *schemas.ITEM, "score"]
    frame = pd.concat([judged.loc[~judged["copy"], names], model[names]], ignore_index=True)
    frame = frame.astype({name: "str" for name in names if name != "score"}).replace(
        {"system": {"sim-system-13": "refA"}}
    )
    frame.attrs["seed"] = seed
    return frame


def _mqm(seed: int) -> pd.DataFrame:
    """Draw MQM: Chinese-English by eight raters, two of six documents by all of them; English-German merged."""
    frames = []
    for task in tasks("wmt23"):
        raters = 8 if task.pair.startswith("zho") else 1
        sizes = {"systems": task.systems, "documents": 6, "segments": _DOCUMENT, "annotators": raters}
        source, _, target = task.pair.partition("-")
        frame = campaign(
            design=Design((source, target), judgements=raters, mixed=task.systems, through=True, **sizes),
            behaviour=Behaviour(sd_gain=0),
            true=task.documents(seed, 6),
            seed=seed,
        )
        rater = frame["annotator"].str.rpartition("-")[2].astype(int)
        line = frame["segment"].astype(int)
        frame["annotator"] = "sim-rater" + rater.astype("str") if raters > 1 else "merged"
        frames.append(frame[(line <= 20) | (line % raters + 1 == rater)])
    frame = pd.concat(frames, ignore_index=True).drop(columns=["hit", "started", "ended"])
    return with_errors(frame, True, seed)


def _side_by_side(seed: int) -> pd.DataFrame:
    """Draw MQM of two systems' outputs on one screen, 60 segments, five pairs of systems, three of nine raters each."""
    task, rng = tasks("wmt23")[0], np.random.default_rng([seed, 13])
    sizes = (60, len(_SCREENS), 3, 2)
    segment, pair, place, side = (part.ravel() for part in np.indices(sizes))
    rater = (5 * segment + pair + 3 * place) % 9
    system, other = _SCREENS[pair, side], _SCREENS[pair, 1 - side]
    noise = (
        np.repeat(rng.normal(0, 5, sizes[:3]).ravel(), 2) + rng.normal(0, 6, 9)[rater] + rng.normal(0, 6, len(rater))
    )
    frame = pd.DataFrame({"system": system, "against": other}).map("sim-system-{}".format)
    texts = _texts(task, seed).iloc[(system - 1) * task.segments + segment].reset_index(drop=True)
    names = ["src_lang", "tgt_lang", "doc", "segment", "source", "hypothesis"]
    frame = pd.concat([frame, texts[names]], axis=1)
    frame["annotator"] = [f"sim-rater{number + 1}" for number in rater]
    first, second = (frame["system"].where(side == at, frame["against"]) for at in (0, 1))
    frame["hit"] = frame["annotator"] + ": " + first + " | " + second
    frame["score"] = (task.quality(seed)[0][system - 1, segment] * 12 + 80 + noise).clip(0, 100)
    frame = with_errors(frame.assign(position=np.array(["left", "right"])[side], item_type="system"), True, seed)
    return frame.assign(errors=(frame["minor"] + frame["major"]).astype(float))


def _esa(seed: int) -> pd.DataFrame:
    """Draw error span annotations with copies of documents, spoilt or clean."""
    frame = campaigns(seed=seed, **recipes()["tasks"]["esa"])
    copy, degraded = frame["item_type"].ne("system"), frame["item_type"].eq("degraded")
    spoilt = degraded.groupby([frame["hit"], frame["doc"], copy]).transform("any")
    frame = frame.assign(copy=copy, mark=np.select([spoilt, copy], ["bad", "dup"], ""))
    frame = with_errors(frame.assign(position=frame.groupby("hit").cumcount()), False, seed)
    return frame.assign(errors=frame["minor"] + frame["major"])


_COLLECTIONS = {"protocols": _protocols, "mqm": _mqm, "side by side": _side_by_side, "esa": _esa}
