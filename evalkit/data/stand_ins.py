r"""Draw what stands in for registered data sets that cannot be had; names of systems begin with ``sim-``.

``stand_in`` draws a table of the columns, items and design of a data set by its recipe in ``stand_ins.toml``: a maker,
which is a function here, its options, and the table's schema. Judgements are campaigns of each language pair.
What belongs to one test set, scores of metrics and of people, outputs and errors, rests on one quality of each
translation: translation n of system s has :math:`q_{sn} = \alpha_s + \beta_n + \epsilon_{sn}`, with
:math:`\alpha_s \sim N(0, 0.5^2)`, :math:`\beta_n \sim N(0, 0.6^2)`, :math:`\epsilon \sim N(0, 0.6^2)`. Two percent of
translations are the first system's, letter by letter, and share its quality. Metric m reports
:math:`\lambda_m q + \sqrt{1 - \lambda_m^2}\, e` with noise :math:`e \sim N(0, 1)` of its own, the same for the same
text; every fourth metric rounds to steps of 0.5, and so ties. People who score mean :math:`y = 80 + 12 q`; where they
mark errors, these are :math:`\mathrm{Poisson}((100 - y) / 20)` minor and :math:`\mathrm{Poisson}((100 - y) / 50)` major
ones, the k-th of them on five characters at 6 k.
"""

import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evalkit.data import compared, schemas
from evalkit.data.mtme import constant, stacked
from evalkit.data.simulate import Behaviour, Control, Design, Quality, campaign, categories, crossed, finished

_DOCUMENT = 10  # segments in a document of a test set
#: Words of five letters and of eight.
_WORDS = np.array(
    [a + b + c for a in ("ba", "ki", "lo", "mu", "ne", "ro") for b in ("dan", "fer", "gol") for c in ("", b)]
)
_SHORTEST, _LONGEST = 12, 24  # words of a text
_PAIR = ["src_lang", "tgt_lang"]
_SEGMENT = [*_PAIR, *schemas.SEGMENT]
_LABELS = {"fluency": "FDBAS", "adequacy": "NOCFBAS"}
#: Pairs of systems, by number, that share a screen; some share none with others, even through third ones.
_SCREENS = np.array([(1, 2), (3, 4), (5, 6), (7, 8), (8, 9)])
_PARTS = {"design": Design, "quality": Quality, "behaviour": Behaviour, "control": Control}


@cache
def recipes() -> dict[str, dict[str, Any]]:
    """Read the recipe of each data set that is stood in for: its maker, a function here, and its options."""
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def stand_in(name: str, *, seed: int = 7, **changes: Any) -> pd.DataFrame:
    """Draw the stand-in of a registered data set by its recipe. changes: options that replace the recipe's.

    A recipe says the maker; the ``table`` of ``schemas.toml`` that the result is, ratings unless it says otherwise ("":
    none); and further columns of its ``key``. Everything else are options of the maker.

    >>> stand_in("contrastive-esa")["system"].nunique()
    10
    """
    recipe = {"table": "ratings", "key": []} | recipes()[name] | changes
    maker, table, key = (recipe.pop(what) for what in ("maker", "table", "key"))
    frame = globals()[maker](seed=seed, **recipe)
    if not table:
        frame.attrs = {"seed": seed}
        return frame
    facts = {fact: frame.attrs[fact] for fact in ("scale", "excluded") if fact in frame.attrs}
    return finished(frame, getattr(schemas, table.upper()).also(key=key), seed=seed, **facts)


def campaigns(
    *,
    pairs: dict[str, dict[str, dict[str, Any]]],
    seed: int,
    scale: Sequence[float] = (0, 100),
    true: dict[str, np.ndarray] | None = None,
    stream: str = "",
    person: str = "",
    by_account: bool = False,
    kinds: dict[str, str] | None = None,
    excluded: dict[str, int] | None = None,
    **parts: dict[str, Any],
) -> pd.DataFrame:
    """Draw a campaign a language pair, each with annotators of its own.

    parts: options of ``Design``, ``Quality``, ``Behaviour`` and ``Control``; pairs: those that differ in each. true:
    the qualities where they are known. stream: tells draws of one seed apart. person: what the last system
    is called, where its translations are a person's. by_account: an account has one HIT. kinds: item types called
    otherwise.
    """
    frames, (low, high) = [], scale
    for pair, own in pairs.items():
        source, target = pair.split("-")
        options = {name: parts.get(name, {}) | own.get(name, {}) for name in _PARTS}
        options["design"]["pair"] = (source, target)
        told: dict[str, Any] = {name: make(**options[name]) for name, make in _PARTS.items()}
        known = true[pair] if true else None
        frame = campaign(**told, scale=(low, high), true=known, seed=[seed, *f"{stream}{pair}".encode()])
        frame["annotator"] = frame["annotator"].str.replace("sim-annotator", f"sim-{stream}{pair}")
        frame["hit"] = frame["hit"].str.replace("sim-", f"sim-{stream}{pair}-")
        frames.append(frame)
    frame = pd.concat(frames, ignore_index=True).replace({"item_type": kinds or {}})
    if person:
        last = frame["system"].eq(f"sim-system-{told['design'].systems}")
        frame["item_type"] = frame["item_type"].mask(last & frame["item_type"].eq("system"), "reference")
        frame["system"] = frame["system"].mask(last, person)
    frame["hit"] = frame["annotator"] if by_account else frame["hit"]
    frame.attrs = {"scale": (low, high), "excluded": excluded or {}}
    return frame


def mapping(*, pairs: dict[str, list[int]], seed: int) -> pd.DataFrame:
    """Draw who did which additional HIT. pairs: how many annotators did some, and how many HITs there were, a pair."""
    rng, rows = np.random.default_rng(seed), []
    for pair, (annotators, hits) in pairs.items():
        who = np.concatenate([np.arange(annotators), rng.integers(annotators, size=hits - annotators)])
        rows += [(f"sim-{pair}-more-{n:03}", f"sim-{pair}-{a + 1}") for n, a in enumerate(rng.permutation(who))]
    return pd.DataFrame(rows, columns=["hit", "annotator"])


def mturk(**recipe: Any) -> pd.DataFrame:
    """Draw ratings of documents with quality-control copies, z-scores, places in HITs and seconds as WMT's files do.

    Caveat: real annotators differ in whether they notice degradation at all; these do not.
    """
    frame = campaigns(**recipe)
    worker, hit = frame.groupby(["src_lang", "annotator"])["score"], frame.groupby("hit")
    mean, sd = (worker.transform(how).map(_printed) for how in ("mean", "std"))
    seconds = (hit["ended"].transform("max") - hit["started"].transform("min")).round()
    new = {"z": (frame["score"] - mean) / sd, "position": hit.cumcount(), "hit_seconds": seconds}
    return frame.assign(copy=frame["item_type"] != "system", **new).drop(columns=["started", "ended"])


def _printed(value: float) -> float:
    """Round to seven significant digits, as the statistics behind WMT's z-scores were printed and read again."""
    return float(f"{value:.7g}")


def workers(*, of: str, seed: int) -> pd.DataFrame:
    """Summarise the workers of another recipe as WMT's files do."""
    worker = stand_in(of, seed=seed).groupby([*_PAIR, "annotator"])["score"]
    return worker.agg(["mean", "std"]).map(_printed).reset_index().rename(columns={"std": "sd"})


def official(*, of: str, seed: int) -> pd.DataFrame:
    """Rank the systems of another recipe as WMT's files do: segments are averaged before systems."""
    frame, system = stand_in(of, seed=seed), [*_PAIR, "system"]
    counted = frame[frame["item_type"].isin(["system", "repeat"])]
    segments = counted.groupby([*system, "segment"])[["score", "z"]].mean().groupby(system)
    table = segments.mean().rename(columns={"score": "raw"}).assign(segments=segments.size())
    table = table.assign(judgements=counted.groupby(system).size()).reset_index()
    table = table.sort_values(["src_lang", "z"], ascending=[True, False], ignore_index=True)
    return table.assign(raw=table["raw"].map("{:.1f}".format), z=table["z"].map("{:.3f}".format))


def direct(*, splits: dict[str, list[int]], model: bool, seed: int, **recipe: Any) -> pd.DataFrame:
    r"""Draw direct assessments of single translations, by the place of a score or by the person.

    splits: how many items each has, and how many scores these have at most. model: by person, with what a model says,
    :math:`-0.6 + 0.01 (\bar y - 65) + N(0, 0.2^2)` of the item's mean score, z-scores, and lengths of 4 to 30 words.
    """
    frames, rng = [], np.random.default_rng(seed)
    for split, (items, people) in splits.items():
        sizes = {"systems": 1, "documents": 1, "segments": items, "annotators": people, "judgements": people}
        frames.append(campaigns(**recipe, design=sizes, stream=f"{split}-", seed=seed).assign(doc=f"sim-{split}"))
    frame = pd.concat(frames, ignore_index=True).drop(columns=["hit", "started", "ended"]).assign(system="sim-mlqe-pe")
    frame["annotator"] = ("sim-person-" if model else "place-") + frame["annotator"].str.rpartition("-")[2]
    if model:
        item, own = frame.groupby(_SEGMENT), frame.groupby([*_PAIR, "annotator"])["score"]
        at, mean = item.ngroup(), item["score"].transform("mean")
        frame["model_score"] = (-0.6 + 0.01 * (mean - 65) + rng.normal(0, 0.2, item.ngroups)[at]).round(4)
        frame["source_words"], frame["target_words"] = rng.integers(4, 31, (2, item.ngroups)).astype(float)[:, at]
        frame["z"] = (frame["score"] - own.transform("mean")) / own.transform("std", ddof=0)
    return frame


def contrastive(*, shown: int, **recipe: Any) -> pd.DataFrame:
    """Draw screens on which some of the systems' outputs of a segment stand together."""
    screen = ["annotator", "doc", "segment"]
    frame = campaigns(**recipe).drop(columns=["started", "ended"])
    frame = frame.groupby(screen).sample(shown, random_state=recipe["seed"]).sort_index().reset_index(drop=True)
    hit = frame["annotator"] + "/" + frame["doc"] + "/" + frame["segment"]
    return frame.assign(hit=hit, position=frame.groupby(screen).cumcount() + 1)


# --- Labels and preferences


def labels(
    *, sets: dict[str, list[str]], segments: dict[str, int], people: str, shares: dict[str, list[float]], seed: int
) -> pd.DataFrame:
    """Draw fluency and adequacy labels with an expected kappa of 0.3 (see ``categories``).

    sets: test set -> source languages; segments: of each test set; shares: of each dimension's letters.
    """
    rng, frames = np.random.default_rng(seed), []
    names = [f"sim-{one}" for one in people]
    items = [
        crossed(doc=[f"sim-{name}"], src_lang=own, segment=range(1, segments[name] + 1), annotator=names)
        for name, own in sets.items()
    ]
    frame = pd.concat(items, ignore_index=True).astype({"segment": "str"})
    for dimension, share in shares.items():
        codes = categories(0.3, marginal=share, items=len(frame) // len(people), annotators=len(people), rng=rng)
        letters = np.array(list(_LABELS[dimension]))[codes.ravel()]
        frames.append(frame.assign(dimension=dimension, score=codes.ravel() + 1.0, label=letters))
    return pd.concat(frames, ignore_index=True).assign(tgt_lang="eng", system="sim-various", item_type="system")


def _both(of: Sequence[str], seed: int) -> pd.DataFrame:
    """Draw other recipes and put them on top of each other."""
    return pd.concat([stand_in(name, seed=seed) for name in of], ignore_index=True)


def agreed(*, of: list[str], worst_first: dict[str, str], seed: int) -> pd.DataFrame:
    """Reduce the labels of other recipes to the worst of each translation."""
    frame = _both(of, seed)
    places = [worst_first[name].index(letter) for name, letter in zip(frame["dimension"], frame["label"], strict=True)]
    worst = frame.assign(place=places).sort_values("place", kind="stable").drop_duplicates([*_SEGMENT, "dimension"])
    return worst.sort_index().drop(columns="place").assign(annotator="agreed")


def translations(*, of: list[str], seed: int) -> pd.DataFrame:
    r"""Draw texts and standardised assessments that go with the labels of other recipes.

    With the mean place m of a translation's adequacy labels (1 to 7), each of its words is wrong with probability
    :math:`0.09 (7 - m)`, and :math:`z \sim N(0.35 (m - 4.5), 0.4^2)`. A tenth of what is not WMT17's is the development
    set.
    """
    frame, rng = _both(of, seed), np.random.default_rng([seed, 15])
    frame = frame[frame["dimension"] == "adequacy"].groupby(_SEGMENT, sort=False)["score"].mean().reset_index()
    place = frame.pop("score").to_numpy()
    reference, hypothesis, _ = written(0.09 * (7 - place), np.arange(len(frame)), rng)
    split = np.where(rng.random(len(frame)) < 0.1, "dev", "train")
    return frame.assign(
        system="sim-various",
        hypothesis=hypothesis,
        reference=reference,
        z=0.35 * (place - 4.5) + rng.normal(0, 0.4, len(frame)),
        split=np.where(frame["doc"] == "sim-newstest2017", "test", split),
    )


def written(
    chance: np.ndarray, sentence: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Write sentences of invented words, and translations in which a word is another one with some chance.

    chance: of each translation; sentence: which one it translates, by number from 0. Returns of each translation its
    sentence, its text, and how many words of it are wrong.
    """
    count = sentence.max() + 1
    length = rng.integers(_SHORTEST, _LONGEST + 1, count)[sentence]
    right = rng.choice(_WORDS, (count, _LONGEST))[sentence]
    wrong = (rng.random(right.shape) < chance[:, None]) & (np.arange(_LONGEST) < length[:, None])
    said = np.where(wrong, rng.choice(_WORDS, right.shape), right)
    texts = [[" ".join(words[:n]) for words, n in zip(own, length)] for own in (right, said)]
    return np.array(texts[0], object), np.array(texts[1], object), wrong.sum(axis=1)


def parity_preferences(*, seed: int) -> pd.DataFrame:
    """Draw preferences between a machine's and a person's translation: ten people, documents and single sentences.

    Of documents the person's is chosen more often (.5 to .35 for the machine's), of sentences neither (.42 each); the
    rest are ties. Each person leans a little to one side: a normal effect of sd .06 on the share of the person's.
    """
    rng = np.random.default_rng(seed)
    items = [*(f"D-{k}" for k in range(1, 51)), *(f"S-{k}" for k in range(1, 105))]
    frame = crossed(annotator=range(10), item=items)
    document, drawn = frame["item"].str.startswith("D"), rng.random(len(frame))
    person = np.where(document, 0.5, 0.42) + rng.normal(0, 0.06, 10)[frame["annotator"]]
    either = person + np.where(document, 0.15, 0.16)
    frame = frame.assign(
        choice=np.select([drawn < person, drawn < either], ["human", "tie"], "mt"),
        unit=np.where(document, "document", "sentence"),
        criterion=np.where(frame["annotator"] < 5, "adequacy", "fluency"),
        annotator="sim-" + frame["annotator"].astype("str"),
    )
    found = compared.of_choices(frame, origin="the simulation")
    found.attrs = {"excluded": {"comparisons of sentences from judged documents": 0}}
    return found


def literary(*, strengths: dict[str, float], pairs: dict[str, str], seed: int) -> pd.DataFrame:
    """Draw three comparisons of each of 180 paragraphs: the first way of translating against each other.

    strengths: logarithms of Bradley and Terry's. A translation of strength s has Poisson(4 - 2 s) marks. pairs: target
    -> source language.
    """
    rng, (best, *others) = np.random.default_rng([seed, *b"literary"]), strengths
    frame = crossed(tgt_lang=pairs, book=range(6), segment=range(1, 11), other=others)
    first = rng.random(len(frame)) < 0.5
    sides = [np.where(first, best, frame["other"]), np.where(first, frame["other"], best)]
    a, b = (np.array([strengths[name] for name in side]) for side in sides)
    chance = 1 / (1 + np.exp(b - a))
    return frame.drop(columns=["book", "other"]).assign(
        src_lang=frame["tgt_lang"].map(pairs),
        doc="sim-book-" + frame["book"].astype("str") + "-" + frame["tgt_lang"],
        system_a=sides[0],
        system_b=sides[1],
        screen="sim/" + (frame.index + 1).astype("str"),
        annotator="unnamed",
        first="a",
        preference=np.where(rng.random(len(frame)) < chance, "a", "b"),
        close=rng.random(len(frame)) < 0.6 - np.abs(chance - 0.5),
        marks_a=rng.poisson(4 - 2 * a),
        marks_b=rng.poisson(4 - 2 * b),
    )


# --- Metrics' and people's scores of one test set


def translated(task: str, seed: int) -> pd.DataFrame:
    """Draw the translations of a year's test sets: names, whether people judged them, text, quality.

    text: the row of the translation that has its letters, the first system's where they are copied. All tables of a
    year and a seed rest on the same.
    """
    parts = []
    for pair, (systems, segments, judged) in recipes()["tasks"][task].items():
        source, target = pair.split("-")
        part = crossed(src_lang=[source], tgt_lang=[target], number=range(1, systems + 1), place=range(segments))
        parts.append(part.assign(judged=part["place"] < judged))
    frame = pd.concat(parts, ignore_index=True)
    frame["sentence"] = frame.groupby([*_PAIR, "place"], sort=False).ngroup()
    rng, system = np.random.default_rng([seed, *task.encode()]), frame.groupby([*_PAIR, "number"]).ngroup()
    effects = [rng.normal(0, 0.5, system.max() + 1)[system], rng.normal(0, 0.6, len(frame))[frame["sentence"]]]
    quality = sum(effects) + rng.normal(0, 0.6, len(frame))
    copied = rng.random(len(frame)) < 0.02
    frame["text"] = frame.index.where(~copied, frame.index.to_series().groupby(frame["sentence"]).transform("first"))
    return _named(frame.assign(quality=quality[frame["text"]]))


def _named(frame: pd.DataFrame) -> pd.DataFrame:
    """Name systems, documents and segments by the ``number`` of a system, from 1, and the ``place``, from 0."""
    number, place = frame.pop("number").astype("str"), frame.pop("place")
    document = (place // _DOCUMENT + 1).astype("str").str.zfill(2)
    names = {"system": "sim-system-" + number, "doc": "sim-doc-" + document, "segment": (place + 1).astype("str")}
    return frame.assign(**{name: values.astype("category") for name, values in names.items()})


def _scored(names: pd.DataFrame, score: pd.Series | np.ndarray, **told: str) -> pd.DataFrame:
    """Lay scores of translations out as a metric's, with names that are the same in all rows."""
    frame = names[[*_PAIR, *schemas.ITEM]].astype("category")
    return frame.assign(**{name: constant(value, len(frame)) for name, value in told.items()}, score=np.asarray(score))


def metrics(*, task: str, metrics: int, references: list[str], seed: int) -> pd.DataFrame:
    """Draw segment scores of metrics, which read the references, or none (src), in turn."""
    names, rng, frames = translated(task, seed), np.random.default_rng([seed, *task.encode(), 1]), []
    for number, weight in enumerate(np.linspace(0.1, 0.75, metrics)):
        noise = rng.normal(0, 1, len(names))[names["text"]]
        score = weight * names["quality"] + np.sqrt(1 - weight**2) * noise
        score = (2 * score).round() / 2 + 0.0 if number % 4 == 0 else score
        told = {"metric": f"sim-metric-{number + 1:02}", "reference": references[number % len(references)]}
        frames.append(_scored(names, score, **told))
    return stacked(frames)


def humans(*, task: str, kinds: list[str], seed: int) -> pd.DataFrame:
    """Draw people's scores of the judged segments: mqm (0 to -25, errors subtracted), da-sqm (0 to 100).

    DA is the same as da-sqm, with z-scores of one judgement each.
    """
    names, rng = translated(task, seed).query("judged"), np.random.default_rng([seed, *task.encode(), 2])
    errors = (2.5 - 3.0 * (names["quality"] + rng.normal(0, 0.5, len(names)))).clip(lower=0).round()
    assessed = (75 + 15 * (names["quality"] + rng.normal(0, 1.2, len(names)))).round().clip(0, 100)
    drawn = {"mqm": 0.0 - errors.clip(upper=25), "da-sqm": assessed, "DA": assessed}
    frame = stacked([_scored(names, drawn[kind], metric=kind) for kind in kinds])
    if kinds == ["DA"]:
        pair = frame.groupby(_PAIR, observed=True)["score"]
        frame = frame.assign(z=(frame["score"] - pair.transform("mean")) / pair.transform("std"), judgements=1)
    return frame


def single(*, task: str, judged: int, seed: int) -> pd.DataFrame:
    """Draw standardised assessments of so many single translations with their texts, as WMT17's."""
    names = _with_texts(task, seed).groupby(_PAIR).sample(judged, random_state=seed).sort_index()
    score = names["quality"] + np.random.default_rng([seed, *task.encode(), 2]).normal(0, 0.4, len(names))
    together = {"together": names["system"], "hypothesis": names["hypothesis"]}
    return _scored(names, score, metric="DA").assign(**together)


def averages(*, of: str, seed: int) -> pd.DataFrame:
    """Average the segment scores of another recipe over each system."""
    scores = stand_in(of, seed=seed)
    keys = [name for name in (*_PAIR, "system", "metric", "reference") if name in scores]
    return scores.groupby(keys, observed=True)["score"].mean().reset_index()


def _with_texts(task: str, seed: int) -> pd.DataFrame:
    """Write the outputs of a test set: a word is wrong more often in worse ones, and copied ones are equal."""
    frame, rng = translated(task, seed), np.random.default_rng([seed, *task.encode(), 3])
    chance = np.clip(0.25 - 0.12 * frame["quality"], 0.02, 0.9).to_numpy()
    source, hypothesis, _ = written(chance, frame["sentence"].to_numpy(), rng)
    texts = {"source": source, "reference": source, "hypothesis": hypothesis[frame["text"]]}
    return frame.astype(dict.fromkeys(schemas.ITEM, "str")).assign(domain="sim", **texts)


def outputs(*, task: str, seed: int) -> pd.DataFrame:
    """Draw the outputs of a test set beside source and reference."""
    return _with_texts(task, seed)[[*_PAIR, *schemas.ITEM, "domain", "source", "reference", "hypothesis"]]


# --- Judgements with marked errors


def judgements(*, of: str, seed: int, scale: Sequence[float] | None = None) -> pd.DataFrame:
    """Draw the judgements of a collection: ``protocols``, ``mqm``, ``side_by_side`` or ``esa``."""
    frame = globals()[f"_{of}"](seed).drop(columns=["minor", "major", "typed"])
    frame.attrs = {"excluded": {}} | ({"scale": tuple(scale)} if scale else {})
    return frame


def errors(*, of: str, also: list[str], seed: int) -> pd.DataFrame:
    """Draw the errors behind ``judgements``. also: columns of the judgements that errors have, too."""
    judged, rng = globals()[f"_{of}"](seed), np.random.default_rng([seed, 12])
    frame = judged.loc[judged.index.repeat(judged["minor"] + judged["major"])]
    number, drawn = frame.groupby(level=0).cumcount(), rng.random(len(frame))
    major = number >= frame["minor"]
    kinds = [frame["typed"] & (drawn < 0.6), frame["typed"], drawn < 0.1]
    kind = np.select(kinds, ["accuracy/mistranslation", "fluency/grammar", "omission"], "other")
    start = (6.0 * number).where(kind != "omission")
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
        frame["text"] = [text[6 * n : 6 * n + 5] for text, n in zip(frame["hypothesis"], number, strict=True)]
    names = [name for name in schemas.SPANS.columns if name in frame and name != "text"]
    frame.attrs = {}
    return frame[[*dict.fromkeys([*names, *also])]].reset_index(drop=True)


def _with_errors(frame: pd.DataFrame, typed: pd.Series | bool, seed: int) -> pd.DataFrame:
    """Draw how many minor and major errors each judgement marks; under MQM (typed), they are the score."""
    rng, lost, most = np.random.default_rng([seed, 11]), 100 - frame["score"], _SHORTEST - 1  # texts may hold no more
    minor, major = rng.poisson(lost / 20), np.minimum(rng.poisson(lost / 50), most)
    minor = np.minimum(minor, most - major)
    frame = frame.assign(minor=minor, major=major, errors=minor + major, typed=typed)
    return frame.assign(score=frame["score"].where(~frame["typed"], 0.0 - minor - 5.0 * major))


def _with_marks(frame: pd.DataFrame) -> pd.DataFrame:
    """Say which judgements are of copies, how these are marked, and their places in their HITs."""
    copy, degraded = frame["item_type"].isin(["degraded", "repeat"]), frame["item_type"].eq("degraded")
    spoilt = degraded.groupby([frame["hit"], frame["system"], frame["doc"], copy]).transform("any")
    mark = np.select([spoilt, copy], ["bad", "dup"], "")
    return frame.assign(copy=copy, mark=mark, position=frame.groupby("hit").cumcount())


def _meant(documents: int, seed: int) -> dict[str, np.ndarray]:
    """Return what people mean of WMT23's first documents: pair -> systems × documents × segments."""
    frame, found = translated("wmt23", seed), {}
    for pair, (systems, *_) in recipes()["tasks"]["wmt23"].items():
        own = frame.loc[(frame["src_lang"] + "-" + frame["tgt_lang"]).eq(pair), "quality"].to_numpy()
        first = own.reshape(systems, -1)[:, : documents * _DOCUMENT]
        found[pair] = 80 + 12 * first.reshape(systems, documents, _DOCUMENT)
    return found


def _seen(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return what people mean of twenty documents, and what a model sees of that; last comes a better reference."""
    true = _meant(20, seed)["eng-deu"]
    true = np.concatenate([true, true[:1] + 12])
    return true, true + 12 * np.random.default_rng([seed, 14]).normal(0, 0.8, true.shape)


def _protocols(seed: int) -> pd.DataFrame:
    """Draw one set of texts judged under several protocols, and a part of them judged again by others.

    A model sees :math:`q' = q + N(0, 0.8^2)`; under ESA with suggested marks people see :math:`0.7 q + 0.3 q'`.
    Degraded copies are 40 points worse.
    """
    (true, seen), told, frames = _seen(seed), recipes()["tasks"]["protocols"], []
    for protocol in told["names"]:
        again = protocol.endswith("IAA")
        meant = (0.7 * true + 0.3 * seen if "AI-" in protocol else true)[:, : 7 if again else None]
        sizes = {"documents": meant.shape[1], "annotators": 9 + 3 * again}
        options = told["options"] | {"true": {"eng-deu": meant}, "pairs": {"eng-deu": {"design": sizes}}}
        frame = campaigns(**options, stream=f"{protocol}-", seed=seed)
        frames.append(frame.assign(protocol=protocol, annotator=frame["hit"] if again else frame["annotator"]))
    frame = _with_marks(pd.concat(frames, ignore_index=True))
    return _with_errors(frame, frame["protocol"].str.startswith("MQM"), seed)


def released(*, seed: int) -> pd.DataFrame:
    """Take the scores of all protocols but for degraded copies, and draw those of the suggesting model."""
    judged, seen = _protocols(seed), _seen(seed)[1]
    systems, segments = len(seen), seen[0].size
    names = crossed(src_lang=["eng"], tgt_lang=["deu"], number=range(1, systems + 1), place=range(segments))
    model = _named(names).assign(protocol="LLM", score=-np.maximum(0, 4 - (seen.ravel() - 80) / 3).round())
    columns = ["protocol", *_PAIR, *schemas.ITEM]
    frame = pd.concat([part[[*columns, "score"]] for part in (judged[~judged["copy"]], model)], ignore_index=True)
    frame[columns] = frame[columns].astype("str").replace(f"sim-system-{systems}", "refA")
    return frame


def _mqm(seed: int) -> pd.DataFrame:
    """Draw MQM: Chinese-English by eight raters, two of six documents by all of them; English-German merged."""
    frame = campaigns(**recipes()["tasks"]["mqm"], true=_meant(6, seed), seed=seed)
    rater, line = frame["annotator"].str.rpartition("-")[2].astype(int), frame["segment"].astype(int)
    merged = frame["src_lang"].eq("eng")
    frame["annotator"] = np.where(merged, "merged", "sim-rater" + rater.astype("str"))
    kept = frame[merged | line.le(20) | (line % 8 + 1).eq(rater)].drop(columns=["hit", "started", "ended"])
    return _with_errors(kept.reset_index(drop=True), True, seed)


def _side_by_side(seed: int) -> pd.DataFrame:
    """Draw MQM of two systems' outputs on one screen, 60 segments, five pairs of systems, three of nine raters each."""
    rng, sizes = np.random.default_rng([seed, 13]), (60, len(_SCREENS), 3, 2)
    segment, pair, place, side = (part.ravel() for part in np.indices(sizes))
    rater = (5 * segment + pair + 3 * place) % 9
    system, other = _SCREENS[pair, side], _SCREENS[pair, 1 - side]
    noise = np.repeat(rng.normal(0, 5, sizes[:3]), 2) + rng.normal(0, 6, 9)[rater] + rng.normal(0, 6, len(rater))
    segments = recipes()["tasks"]["wmt23"]["eng-deu"][1]
    texts = _with_texts("wmt23", seed).iloc[(system - 1) * segments + segment].reset_index(drop=True)
    frame = texts[[*_PAIR, *schemas.ITEM, "source", "hypothesis"]].assign(
        against=[f"sim-system-{number}" for number in other],
        annotator=[f"sim-rater{number + 1}" for number in rater],
        score=(80 + 12 * texts["quality"] + noise).clip(0, 100),
        position=np.array(["left", "right"])[side],
        item_type="system",
    )
    first, second = (frame["system"].where(side == at, frame["against"]) for at in (0, 1))
    frame["hit"] = frame["annotator"] + ": " + first + " | " + second
    return _with_errors(frame, True, seed).astype({"errors": float})


def _esa(seed: int) -> pd.DataFrame:
    """Draw error span annotations with copies of documents, spoilt or clean."""
    return _with_errors(_with_marks(campaigns(seed=seed, **recipes()["tasks"]["esa"])), False, seed)


# --- IndicMT-Eval


def indic(*, part: str, languages: list[str], sentences: int, seed: int) -> pd.DataFrame:
    """Draw translations of some sentences into each language: their scores (``ratings``), errors, or ``splits``.

    part: splits are as the release lays them out; ``zero-shot`` is a split in which parts of scores lack.
    Errors are wrong words, five at most. A non-translation, one in eighty, has all words wrong. Scores are 25 less the
    errors' weights; the annotator's own are the same, clipped at 0, plus N(0, 2²), rounded.
    """
    rng, told = np.random.default_rng([seed, sentences]), recipes()["tasks"]["indic"]
    frame = crossed(src_lang=["eng"], tgt_lang=languages, system=told["systems"], number=range(sentences))
    lost, number = rng.random(len(frame)) < 1 / 80, frame.pop("number")
    chance = np.where(lost, 1, frame["system"].map(told["systems"]))
    source, hypothesis, wrong = written(chance, number.to_numpy(), rng)
    frame = frame.assign(doc="sim-doc", segment=number.map("{:08x}".format), annotator="sim-expert")
    marked = frame.loc[frame.index.repeat(np.where(lost, 1, np.minimum(wrong, 5)))]
    weights, types, whole = told["severities"], told["types"], lost[marked.index]
    kind = rng.choice(list(types), len(marked), p=list(types.values()))
    level = rng.choice(list(weights), len(marked), p=[0.1, 0.15, 0.3, 0.25, 0.2])
    marked = marked.assign(
        span=(marked.groupby(level=0).cumcount() + 1).astype("str"),
        error_type=np.where(whole, "non-translation", kind),
        severity=np.where(whole, schemas.UNSTATED, level),
    )
    if part == "errors":
        return marked.reset_index(drop=True)
    weight = marked["severity"].map(weights | {schemas.UNSTATED: 25.0})
    for name, begin in (("score", ""), ("accuracy_score", "accuracy"), ("fluency_score", "fluency")):
        counted = weight.where(marked["error_type"].str.startswith(begin), 0.0).groupby(level=0).sum()
        frame[name] = 25.0 - counted.reindex(frame.index, fill_value=0.0)
    own = (frame["score"].clip(lower=0) + rng.normal(0, 2, len(frame))).round().clip(0, 25)
    frame = frame.assign(own_score=own, source=source + ".", reference=source + ".", hypothesis=hypothesis + ".")
    scores = ["accuracy_score", "fluency_score"]
    if part == "ratings":
        frame = frame.drop(columns=scores).assign(item_type="system")
        return frame.assign(row=frame.groupby("tgt_lang").cumcount())
    frame["split"] = "zero-shot" if part == "zero-shot" else np.array([*["train"] * 3, "val", "test"])[number % 5]
    frame["formula_score"] = frame["score"]
    frame = frame.assign(score=frame["score"].clip(lower=0) / 25, own_score=frame["own_score"] / 25)
    if part == "zero-shot":
        frame[[*scores, "formula_score"]] = np.nan
    frame["row"] = frame.groupby(["tgt_lang", "split"]).cumcount()
    return frame.drop(columns=["system", "doc", "annotator"])
