r"""Draw what stands in for registered data sets, by their recipes: tables of the same columns, items and design.

A recipe names a function of this module and its options. Judgements are campaigns (see ``campaign``) of each language
pair. What belongs to one test set, scores of metrics and of people, outputs and errors, rests on one quality of each
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
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evalkit.data import compared, schemas
from evalkit.data.mtme import constant, stacked
from evalkit.data.simulate.campaign import Behaviour, Control, Design, Quality, campaign, categories, finished

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


@cache
def recipes() -> dict[str, dict[str, Any]]:
    """Read the recipe of each data set that is stood in for: its maker, a function here, and its options."""
    return tomllib.loads((Path(__file__).parent / "recipes.toml").read_text(encoding="utf-8"))


def stand_in(name: str, *, seed: int = 7, **changes: Any) -> pd.DataFrame:
    """Draw the stand-in of a registered data set by its recipe. changes: options that replace the recipe's.

    >>> stand_in("contrastive-esa")["system"].nunique()
    10
    """
    recipe = recipes()[name] | changes
    return globals()[recipe["maker"]](seed=seed, **{key: value for key, value in recipe.items() if key != "maker"})


# --- Campaigns


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
        source, _, target = pair.partition("-")
        design, quality, behaviour, control = (
            parts.get(part, {}) | own.get(part, {}) for part in ("design", "quality", "behaviour", "control")
        )
        frame = campaign(
            design=Design((source, target), **design),
            quality=Quality(**quality),
            behaviour=Behaviour(**behaviour),
            control=Control(**control),
            scale=(low, high),
            true=true[pair] if true else None,
            seed=[seed, *f"{stream}{pair}".encode()],
        )
        frame["annotator"] = frame["annotator"].str.replace("sim-annotator", f"sim-{stream}{pair}")
        frame["hit"] = frame["hit"].str.replace("sim-", f"sim-{stream}{pair}-")
        if person:
            own = frame["system"].eq(f"sim-system-{design['systems']}")
            kind = frame["item_type"].mask(own & frame["item_type"].eq("system"), "reference")
            frame = frame.assign(system=frame["system"].mask(own, person), item_type=kind)
        frames.append(frame.replace({"item_type": kinds or {}}))
    frame = pd.concat(frames, ignore_index=True)
    frame["hit"] = frame["annotator"] if by_account else frame["hit"]
    return finished(frame, seed=seed, scale=(low, high), excluded=excluded or {})


def mapping(*, pairs: dict[str, list[int]], seed: int) -> pd.DataFrame:
    """Draw who did which additional HIT. pairs: how many annotators did some, and how many HITs there were, a pair."""
    rng, rows = np.random.default_rng(seed), []
    for pair, (annotators, hits) in pairs.items():
        who = np.concatenate([np.arange(annotators), rng.integers(annotators, size=hits - annotators)])
        rows += [(f"sim-{pair}-more-{n:03}", f"sim-{pair}-{a + 1}") for n, a in enumerate(rng.permutation(who))]
    return finished(pd.DataFrame(rows, columns=["hit", "annotator"]), schemas.HITS, seed=seed)


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
    frame = worker.agg(["mean", "std"]).map(_printed).reset_index().rename(columns={"std": "sd"})
    return _noted(frame, seed)


def _noted(frame: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Note the seed alone on a table that no schema describes."""
    frame.attrs = {"seed": seed}
    return frame


def official(*, of: str, seed: int) -> pd.DataFrame:
    """Rank the systems of another recipe as WMT's files do: segments are averaged before systems."""
    frame, system = stand_in(of, seed=seed), [*_PAIR, "system"]
    counted = frame[frame["item_type"].isin(["system", "repeat"])]
    segments = counted.groupby([*system, "segment"])[["score", "z"]].mean().groupby(system)
    table = segments.mean().rename(columns={"score": "raw"}).assign(segments=segments.size())
    table = table.assign(judgements=counted.groupby(system).size()).reset_index()
    table = table.sort_values(["src_lang", "z"], ascending=[True, False], ignore_index=True)
    return _noted(table.assign(raw=table["raw"].map("{:.1f}".format), z=table["z"].map("{:.3f}".format)), seed)


def direct(*, splits: dict[str, list[int]], model: bool, seed: int, **recipe: Any) -> pd.DataFrame:
    r"""Draw direct assessments of single translations, by the place of a score or by the person.

    splits: how many items each has, and how many scores these have at most. model: by person, with what a model says,
    :math:`-0.6 + 0.01 (\bar y - 65) + N(0, 0.2^2)` of the item's mean score, z-scores, and lengths of 4 to 30 words.
    """
    frames, rng = [], np.random.default_rng(seed)
    for split, (items, people) in splits.items():
        sizes = {"systems": 1, "documents": 1, "segments": items, "annotators": people, "judgements": people}
        frames.append(campaigns(**recipe, design=sizes, stream=f"{split}-", seed=seed).assign(doc=f"sim-{split}"))
    frame = pd.concat(frames, ignore_index=True).drop(columns=["hit", "started", "ended"])
    who = frame["annotator"].str.rpartition("-")[2].radd("sim-person-" if model else "place-")
    frame = frame.assign(annotator=who, system="sim-mlqe-pe")
    if model:
        item, own = frame.groupby(_SEGMENT), frame.groupby([*_PAIR, "annotator"])["score"]
        drawn, at = rng.normal(0, 0.2, item.ngroups), item.ngroup()
        frame["model_score"] = (-0.6 + 0.01 * (item["score"].transform("mean") - 65) + drawn[at]).round(4)
        for side in ("source", "target"):
            frame[f"{side}_words"] = rng.integers(4, 31, item.ngroups).astype(float)[at]
        frame["z"] = (frame["score"] - own.transform("mean")) / own.transform("std", ddof=0)
    return finished(frame, seed=seed, scale=(0, 100))


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
    for (test_set, own), (dimension, share) in ((one, each) for one in sets.items() for each in shares.items()):
        for language in own:
            count = segments[test_set]
            codes = categories(0.3, marginal=share, items=count, annotators=len(people), rng=rng)[0].ravel()
            frame = pd.DataFrame({"score": codes + 1.0, "label": np.array(list(_LABELS[dimension]))[codes]})
            frame["segment"] = np.repeat(np.arange(1, count + 1), len(people)).astype(str)
            frame["annotator"] = np.tile([f"sim-{one}" for one in people], count)
            frames.append(frame.assign(doc=f"sim-{test_set}", src_lang=language, dimension=dimension))
    frame = pd.concat(frames).assign(tgt_lang="eng", system="sim-various", item_type="system")
    return finished(frame.reset_index(drop=True), schemas.RATINGS.also(key=["dimension"]), seed=seed)


def _both(of: Sequence[str], seed: int) -> pd.DataFrame:
    """Draw other recipes and put them on top of each other."""
    return pd.concat([stand_in(name, seed=seed) for name in of], ignore_index=True)


def agreed(*, of: list[str], worst_first: dict[str, str], seed: int) -> pd.DataFrame:
    """Reduce the labels of other recipes to the worst of each translation."""
    frame = _both(of, seed)
    places = zip(frame["dimension"], frame["label"], strict=True)
    place = pd.Series([worst_first[dimension].index(label) for dimension, label in places])
    worst = frame.loc[place.groupby([frame[name] for name in (*_SEGMENT, "dimension")], sort=False).idxmin()]
    return finished(worst.assign(annotator="agreed"), schemas.RATINGS.also(key=["dimension"]), seed=seed)


def translations(*, of: list[str], seed: int) -> pd.DataFrame:
    r"""Draw texts and standardised assessments that go with the labels of other recipes.

    With the mean place m of a translation's adequacy labels (1 to 7), each of its words is wrong with probability
    :math:`0.09 (7 - m)`, and :math:`z \sim N(0.35 (m - 4.5), 0.4^2)`. A tenth of what is not WMT17's is the development
    set.
    """
    frame, rng = _both(of, seed), np.random.default_rng([seed, 15])
    place = frame[frame["dimension"] == "adequacy"].groupby(_SEGMENT, sort=False)["score"].mean()
    reference, hypothesis, _ = written(0.09 * (7 - place.to_numpy())[None], rng)
    z = 0.35 * (place.to_numpy() - 4.5) + rng.normal(0, 0.4, len(place))
    frame = place.index.to_frame(index=False)
    split = np.where(rng.random(len(frame)) < 0.1, "dev", "train")
    split = np.where(frame["doc"] == "sim-newstest2017", "test", split)
    frame = frame.assign(system="sim-various", hypothesis=hypothesis[0], reference=reference, z=z, split=split)
    return _noted(frame, seed)


def written(chance: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Write sentences of invented words, and translations in which a word is another one with some chance.

    chance: systems × segments. Returns the sentences (segments), their translations, and how many words of each are
    wrong (systems × segments, both).
    """
    length = np.asarray(rng.integers(_SHORTEST, _LONGEST + 1, chance.shape[1]))
    right = rng.choice(_WORDS, (chance.shape[1], _LONGEST))
    wrong = (rng.random((*chance.shape, _LONGEST)) < chance[..., None]) & (np.arange(_LONGEST) < length[:, None])
    said = np.where(wrong, rng.choice(_WORDS, wrong.shape), right)
    texts = [[" ".join(words[:n]) for words, n in zip(own, length)] for own in (right, *said)]
    return np.array(texts[0], object), np.array(texts[1:], object), wrong.sum(axis=2)


def parity_preferences(*, seed: int) -> pd.DataFrame:
    """Draw preferences between a machine's and a person's translation: ten people, documents and single sentences.

    Of documents the person's is chosen more often (.5 to .35 for the machine's), of sentences neither (.42 each); the
    rest are ties. Each person leans a little to one side: a normal effect of sd .06 on the share of the person's.
    """
    rng = np.random.default_rng(seed)
    items = [*(f"D-{k}" for k in range(1, 51)), *(f"S-{k}" for k in range(1, 105))]
    frame = pd.MultiIndex.from_product([range(10), items], names=["annotator", "item"]).to_frame(index=False)
    document, drawn = frame["item"].str.startswith("D"), rng.random(len(frame))
    lean = rng.normal(0, 0.06, 10)[frame["annotator"]]
    person, neither = np.where(document, 0.5, 0.42) + lean, np.where(document, 0.15, 0.16)
    frame["choice"] = np.select([drawn < person, drawn < person + neither], ["human", "tie"], "mt")
    frame["unit"] = np.where(document, "document", "sentence")
    frame["criterion"] = np.where(frame["annotator"] < 5, "adequacy", "fluency")
    frame["annotator"] = frame["annotator"].map("sim-{}".format)
    found = compared.of_choices(frame, origin="the simulation")
    found.attrs = {"seed": seed, "excluded": {"comparisons of sentences from judged documents": 0}}
    return found


def parity(*, seed: int) -> pd.DataFrame:
    """Draw the same, each comparison as two judgements."""
    return compared.of_parity(parity_preferences(seed=seed))


def literary(*, strengths: dict[str, float], pairs: dict[str, str], seed: int) -> pd.DataFrame:
    """Draw three comparisons of each of 180 paragraphs: the first way of translating against each other.

    strengths: logarithms of Bradley and Terry's. A translation of strength s has Poisson(4 - 2 s) marks. pairs: target
    -> source language.
    """
    rng, (best, *others) = np.random.default_rng([seed, *b"literary"]), strengths
    levels = {"tgt_lang": list(pairs), "book": range(6), "segment": range(1, 11), "other": others}
    frame = pd.MultiIndex.from_product(levels.values(), names=levels).to_frame(index=False)
    first = rng.random(len(frame)) < 0.5
    frame = frame.assign(
        src_lang=frame["tgt_lang"].map(pairs),
        doc="sim-book-" + frame["book"].astype("str") + "-" + frame["tgt_lang"],
        system_a=np.where(first, best, frame["other"]),
        system_b=np.where(first, frame["other"], best),
        screen=[f"sim/{number}" for number in range(1, len(frame) + 1)],
        annotator="unnamed",
        first="a",
    )
    a, b = (frame[f"system_{side}"].map(strengths) for side in "ab")
    chance = 1 / (1 + np.exp(b - a))
    frame["preference"] = np.where(rng.random(len(frame)) < chance, "a", "b")
    frame["close"] = rng.random(len(frame)) < 0.6 - (chance - 0.5).abs()
    frame["marks_a"], frame["marks_b"] = rng.poisson(4 - 2 * a), rng.poisson(4 - 2 * b)
    frame = frame.drop(columns=["book", "other"]).astype({"segment": "str"})
    return finished(frame, schemas.COMPARISONS, seed=seed)


# --- Metrics' and people's scores of one test set


@dataclass(frozen=True)
class Task:
    """Say how large a test set of one language pair is. judged: segments that humans scored."""

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

    def documents(self, seed: int, count: int) -> np.ndarray:
        """Return what people mean of the first documents: systems × documents × segments."""
        return 80 + 12 * self.quality(seed)[0][:, : count * _DOCUMENT].reshape(self.systems, count, _DOCUMENT)

    def texts(self, seed: int) -> pd.DataFrame:
        """Write the outputs: a word is wrong more often in worse ones, and copied ones are equal."""
        quality, whose = self.quality(seed)
        reference, hypothesis, _ = written(np.clip(0.25 - 0.12 * quality, 0.02, 0.9), self.rng(seed, "texts"))
        frame = self.table(quality).drop(columns="score").astype("str")
        texts = {"source": np.tile(reference, self.systems), "reference": np.tile(reference, self.systems)}
        return frame.assign(domain="sim", **texts, hypothesis=np.take_along_axis(hypothesis, whose, axis=0).ravel())

    def table(self, scores: np.ndarray, **names: str) -> pd.DataFrame:
        """Lay scores, systems × segments, out as rows, with names that are the same in all."""
        systems, segments = scores.shape
        place = np.tile(np.arange(segments), systems)
        named = dict(zip(_PAIR, self.pair.split("-"), strict=True)) | names
        levels = {
            "system": (np.repeat(np.arange(systems), segments), [f"sim-system-{n + 1}" for n in range(systems)]),
            "doc": (place // _DOCUMENT, [f"sim-doc-{n + 1:02}" for n in range(-(-segments // _DOCUMENT))]),
            "segment": (place, [str(n + 1) for n in range(segments)]),
        }
        frame = {name: constant(value, scores.size) for name, value in named.items()}
        frame |= {name: pd.Categorical.from_codes(codes, words) for name, (codes, words) in levels.items()}
        return pd.DataFrame(frame | {"score": scores.ravel()})


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


def humans(*, task: str, kinds: list[str], seed: int) -> pd.DataFrame:
    """Draw people's scores of the judged segments: mqm (0 to -25, errors subtracted), da-sqm (0 to 100).

    DA is the same as da-sqm, with z-scores of one judgement each.
    """
    frames = []
    for one in tasks(task):
        quality, rng = one.quality(seed)[0][:, : one.judged], one.rng(seed, "human")
        errors = np.maximum(0, 2.5 - 3.0 * (quality + rng.normal(0, 0.5, quality.shape))).round()
        assessed = (75 + 15 * (quality + rng.normal(0, 1.2, quality.shape))).round().clip(0, 100)
        drawn = {"mqm": -np.minimum(errors, 25), "da-sqm": assessed, "DA": assessed}
        facts = {"z": ((assessed - assessed.mean()) / assessed.std()).ravel(), "judgements": 1}
        frames += [one.table(drawn[kind], metric=kind).assign(**facts if kind == "DA" else {}) for kind in kinds]
    return finished(stacked(frames), schemas.METRIC_SCORES, seed=seed)


def single(*, task: str, seed: int) -> pd.DataFrame:
    """Draw standardised assessments of single translations with their texts, as WMT17's."""
    frames = []
    for one in tasks(task):
        quality, rng = one.quality(seed)[0], one.rng(seed, "human")
        frame = one.table(quality + rng.normal(0, 0.4, quality.shape), metric="DA")
        frame = frame.assign(together=frame["system"].astype("str"), hypothesis=one.texts(seed)["hypothesis"])
        frames.append(frame.sample(one.judged, random_state=rng).sort_index())
    return finished(stacked(frames), schemas.METRIC_SCORES, seed=seed)


def averages(*, of: str, seed: int) -> pd.DataFrame:
    """Average the segment scores of another recipe over each system."""
    scores = stand_in(of, seed=seed)
    keys = [name for name in (*_PAIR, "system", "metric", "reference") if name in scores]
    table = scores.groupby(keys, observed=True)["score"].mean().reset_index()
    return finished(table, schemas.SYSTEM_SCORES, seed=seed)


def outputs(*, task: str, seed: int) -> pd.DataFrame:
    """Write the outputs of a test set."""
    return _noted(pd.concat([one.texts(seed) for one in tasks(task)], ignore_index=True), seed)


# --- Judgements with marked errors


def ratings(*, of: str, seed: int, scale: tuple[float, float] | None = None) -> pd.DataFrame:
    """Draw the judgements of a collection: ``protocols``, ``mqm``, ``side_by_side`` or ``esa``."""
    frame = _COLLECTIONS[of](seed).drop(columns=["minor", "major", "typed"])
    return finished(frame, schemas.RATINGS.also(key=["protocol"]), seed=seed, scale=scale, excluded={})


def spans(*, of: str, also: list[str], seed: int) -> pd.DataFrame:
    """Draw the errors behind ``ratings``. also: columns of the judgements that errors have, too."""
    judged, rng = _COLLECTIONS[of](seed), np.random.default_rng([seed, 12])
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
    names = dict.fromkeys([*(name for name in schemas.SPANS.columns if name in frame and name != "text"), *also])
    key = [name for name in also if name in ("protocol", "item_type", "hit", "started", "mark", "against")]
    return finished(frame[list(names)].reset_index(drop=True), schemas.SPANS.also(key=key), seed=seed)


def _with_errors(frame: pd.DataFrame, typed: pd.Series | bool, seed: int) -> pd.DataFrame:
    """Draw how many minor and major errors each judgement marks; under MQM (typed), they are the score."""
    rng, lost = np.random.default_rng([seed, 11]), 100 - frame["score"]
    frame = frame.assign(minor=rng.poisson(lost / 20), major=rng.poisson(lost / 50), typed=typed)
    frame["major"] = np.minimum(frame["major"], _SHORTEST - 1)
    frame["minor"] = np.minimum(frame["minor"], _SHORTEST - 1 - frame["major"])  # texts may hold no more
    own = 0.0 - frame["minor"] - 5.0 * frame["major"]
    return frame.assign(score=frame["score"].where(~frame["typed"], own), errors=frame["minor"] + frame["major"])


def _with_marks(frame: pd.DataFrame) -> pd.DataFrame:
    """Say which judgements are of copies, how these are marked, and their places in their HITs."""
    copy, degraded = frame["item_type"].isin(["degraded", "repeat"]), frame["item_type"].eq("degraded")
    spoilt = degraded.groupby([frame["hit"], frame["system"], frame["doc"], copy]).transform("any")
    mark = np.select([spoilt, copy], ["bad", "dup"], "")
    return frame.assign(copy=copy, mark=mark, position=frame.groupby("hit").cumcount())


def _protocols(seed: int) -> pd.DataFrame:
    """Draw one set of texts judged under several protocols, and a part of them judged again by others.

    A model sees :math:`q' = q + N(0, 0.8^2)`; under ESA with suggested marks people see :math:`0.7 q + 0.3 q'`.
    Degraded copies are 40 points worse.
    """
    true, seen = _meant(seed)
    frames = []
    for protocol in recipes()["tasks"]["protocols"]["names"]:
        again = protocol.endswith("IAA")
        meant = (0.7 * true + 0.3 * seen if "AI-" in protocol else true)[:, : 7 if again else None]
        own = {"documents": meant.shape[1], "annotators": 9 + 3 * again}
        options = recipes()["tasks"]["protocols"]["options"]
        pairs = {"eng-deu": {"design": options["design"] | own}}
        frame = campaigns(**options | {"pairs": pairs}, true={"eng-deu": meant}, stream=f"{protocol}-", seed=seed)
        frames.append(frame.assign(protocol=protocol, annotator=frame["hit"] if again else frame["annotator"]))
    frame = _with_marks(pd.concat(frames, ignore_index=True))
    return _with_errors(frame, frame["protocol"].str.startswith("MQM"), seed)


def _meant(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return what people mean of twenty documents, and what a model sees of that; last comes a better reference."""
    task = tasks("wmt23")[0]
    true = task.documents(seed, 20)
    true = np.concatenate([true, true[:1] + 12])
    return true, true + 12 * task.rng(seed, "model").normal(0, 0.8, true.shape)


def released(*, seed: int) -> pd.DataFrame:
    """Take the scores of all protocols but for degraded copies, and draw those of the suggesting model."""
    judged, seen = _protocols(seed), _meant(seed)[1]
    model = tasks("wmt23")[0].table(-np.maximum(0, 4 - (seen.reshape(len(seen), -1) - 80) / 3).round(), protocol="LLM")
    names = ["protocol", *_PAIR, *schemas.ITEM]
    frame = pd.concat([part[[*names, "score"]] for part in (judged[~judged["copy"]], model)], ignore_index=True)
    frame[names] = frame[names].astype("str").replace(f"sim-system-{len(seen)}", "refA")
    return _noted(frame, seed)


def _mqm(seed: int) -> pd.DataFrame:
    """Draw MQM: Chinese-English by eight raters, two of six documents by all of them; English-German merged."""
    options = recipes()["tasks"]["mqm"]
    true = {one.pair: one.documents(seed, 6) for one in tasks("wmt23")}
    frame = campaigns(**options, true=true, seed=seed).drop(columns=["hit", "started", "ended"])
    rater, line, several = frame["annotator"].str.rpartition("-")[2].astype(int), frame["segment"], frame["src_lang"]
    own = several.eq("eng") | line.astype(int).le(20) | (line.astype(int) % 8 + 1).eq(rater)
    frame["annotator"] = np.where(several.eq("eng"), "merged", "sim-rater" + rater.astype("str"))
    return _with_errors(frame[own].reset_index(drop=True), True, seed)


def _side_by_side(seed: int) -> pd.DataFrame:
    """Draw MQM of two systems' outputs on one screen, 60 segments, five pairs of systems, three of nine raters each."""
    task, rng = tasks("wmt23")[0], np.random.default_rng([seed, 13])
    sizes = (60, len(_SCREENS), 3, 2)
    segment, pair, place, side = (part.ravel() for part in np.indices(sizes))
    rater = (5 * segment + pair + 3 * place) % 9
    system, other = _SCREENS[pair, side], _SCREENS[pair, 1 - side]
    noise = np.repeat(rng.normal(0, 5, sizes[:3]), 2) + rng.normal(0, 6, 9)[rater] + rng.normal(0, 6, len(rater))
    frame = task.texts(seed).iloc[(system - 1) * task.segments + segment].reset_index(drop=True)
    frame = frame.drop(columns=["domain", "reference"]).assign(
        against=[f"sim-system-{number}" for number in other],
        annotator=[f"sim-rater{number + 1}" for number in rater],
        score=(task.quality(seed)[0][system - 1, segment] * 12 + 80 + noise).clip(0, 100),
        position=np.array(["left", "right"])[side],
        item_type="system",
    )
    first, second = (frame["system"].where(side == at, frame["against"]) for at in (0, 1))
    frame["hit"] = frame["annotator"] + ": " + first + " | " + second
    return _with_errors(frame, True, seed).astype({"errors": float})


def _esa(seed: int) -> pd.DataFrame:
    """Draw error span annotations with copies of documents, spoilt or clean."""
    return _with_errors(_with_marks(campaigns(seed=seed, **recipes()["tasks"]["esa"])), False, seed)


_COLLECTIONS = {"protocols": _protocols, "mqm": _mqm, "side by side": _side_by_side, "esa": _esa}


# --- IndicMT-Eval


def indic_ratings(*, languages: list[str], sentences: int, seed: int) -> pd.DataFrame:
    """Draw a score of every system's translation of some sentences into each language."""
    judged = _indic(languages, sentences, seed)[0].drop(columns=["split", "accuracy_score", "fluency_score"])
    return finished(judged.assign(row=judged.groupby("tgt_lang").cumcount()), seed=seed)


def indic_spans(*, languages: list[str], sentences: int, seed: int) -> pd.DataFrame:
    """Draw the errors behind ``indic_ratings``."""
    return finished(_indic(languages, sentences, seed)[1], schemas.SPANS, seed=seed)


def indic_splits(*, languages: list[str], sentences: int, split: str = "", seed: int) -> pd.DataFrame:
    """Lay the judgements out as the release's splits. split: the only one there is, in which parts of scores lack."""
    judged = _indic(languages, sentences, seed)[0]
    judged = judged.assign(split=split) if split else judged
    scores = {"score": judged["score"].clip(lower=0) / 25, "own_score": judged["own_score"] / 25}
    parts = {"formula_score": judged["score"]} | {name: judged[name] for name in ("accuracy_score", "fluency_score")}
    frame = judged.assign(**scores, **(dict.fromkeys(parts, np.nan) if split else parts))
    row = frame.groupby(["tgt_lang", "split"]).cumcount()
    return _noted(frame.drop(columns=["system", "doc", "annotator", "item_type"]).assign(row=row), seed)


def _indic(languages: list[str], sentences: int, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Draw translations with their scores, and the errors that are marked: wrong words, five at most.

    A non-translation, one in eighty, has all words wrong. Scores are 25 less the errors' weights; the annotator's own
    are the same, clipped at 0, plus N(0, 2²), rounded.
    """
    rng, options = np.random.default_rng([seed, sentences]), recipes()["tasks"]["indic"]
    levels = [languages, list(options["systems"])]
    chance = np.tile([*options["systems"].values()], len(languages))[:, None].repeat(sentences, axis=1)
    chance[rng.random(chance.shape) < 1 / 80] = 1
    source, hypothesis, wrong = written(chance, rng)
    index = pd.MultiIndex.from_product([*levels, range(sentences)], names=["tgt_lang", "system", "number"])
    frame = index.to_frame(index=False).assign(src_lang="eng", doc="sim-doc", annotator="sim-expert")
    number = frame.pop("number").to_numpy()
    frame["segment"] = [f"{one:08x}" for one in number]
    lost = (chance == 1).ravel()
    errors = frame.loc[frame.index.repeat(np.where(lost, 1, np.minimum(wrong.ravel(), 5)))]
    weights, types = options["severities"], options["types"]
    severity = rng.choice(list(weights), len(errors), p=[0.1, 0.15, 0.3, 0.25, 0.2])
    kind, whole = rng.choice(list(types), len(errors), p=list(types.values())), lost[errors.index]
    errors = errors.assign(
        span=(errors.groupby(level=0).cumcount() + 1).astype("str"),
        error_type=np.where(whole, "non-translation", kind),
        severity=np.where(whole, schemas.UNSTATED, severity),
    )
    weight = errors["severity"].map(weights | {schemas.UNSTATED: 25.0})
    for name, part in (("score", ""), ("accuracy_score", "accuracy"), ("fluency_score", "fluency")):
        lost_points = weight.where(errors["error_type"].str.startswith(part), 0.0).groupby(level=0).sum()
        frame[name] = 25.0 - lost_points.reindex(frame.index, fill_value=0.0)
    frame["own_score"] = (frame["score"].clip(lower=0) + rng.normal(0, 2, len(frame))).round().clip(0, 25)
    frame["split"] = np.array(["train", "train", "train", "val", "test"])[number % 5]
    texts = dict.fromkeys(("source", "reference"), source[number] + ".")
    frame = frame.assign(item_type="system", **texts, hypothesis=hypothesis.ravel() + ".")
    return frame, errors.reset_index(drop=True)
