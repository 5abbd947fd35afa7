r"""Draw what stands in for registered data sets that cannot be had; names of systems begin with ``sim-``.

``stand_in`` draws a table of the columns, items and design of a data set by its recipe in ``stand_ins.toml``: a maker,
which is a function here, its options, and the table's schema. Judgements are campaigns of each language pair.
What belongs to one test set, scores of metrics and of people, outputs and errors, rests on one quality of each
translation: translation n of system s has :math:`q_{sn} = \alpha_s + \beta_n + \epsilon_{sn}`, with
:math:`\alpha_s \sim N(0, 0.5^2)`, :math:`\beta_n \sim N(0, 0.6^2)`, :math:`\epsilon \sim N(0, 0.6^2)`. Two percent of
translations are the first system's, letter by letter, and share its quality. Metric m reports
:math:`\lambda_m q + \sqrt{1 - \lambda_m^2}\, e` with noise :math:`e \sim N(0, 1)` of its own, the same for the same
text; every fourth metric rounds to steps of 0.5, and so ties. People mean :math:`y = 80 + 12 q`, and mark
:math:`\mathrm{Poisson}(0.07 (100 - y))` errors, the k-th of them on five characters at 6 k.
"""

import itertools
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evalkit.data import registry, schemas
from evalkit.data.direct import LABELS
from evalkit.data.mtme import constant, stacked
from evalkit.data.simulate import Design, campaign, categories, crossed, finished

#: Words of five letters and of eight.
_WORDS = np.array(
    [a + b + c for a in ("ba", "ki", "lo", "mu", "ne", "ro") for b in ("dan", "fer", "gol") for c in ("", b)]
)
_SHORTEST, _LONGEST = 12, 24  # words of a text
_DOCUMENT = 10  # segments in a document of a test set
_PAIR = ["src_lang", "tgt_lang"]
_SEGMENT = [*_PAIR, *schemas.SEGMENT]
#: Pairs of systems, by number, that share a screen; some share none with others, even through third ones.
_SCREENS = ((1, 2), (3, 4), (5, 6), (7, 8), (8, 9))


@cache
def recipes() -> dict[str, dict[str, Any]]:
    """Read the recipe of each data set that is stood in for: its maker, a function here, and its options."""
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def stand_in(name: str, *, seed: int = 7, **changes: Any) -> pd.DataFrame:
    """Draw the stand-in of a registered data set by its recipe. changes: options that replace the recipe's.

    A recipe says the maker; the ``table`` of ``schemas.toml`` that the result is, ratings unless it says otherwise ("":
    none); further columns of its ``key``; its ``columns`` where the maker draws more; which ``part`` it is where the
    maker draws two tables. All else are options of the maker.

    >>> stand_in("contrastive-esa")["system"].nunique()
    10
    """
    recipe: dict[str, Any] = {"table": "ratings", "key": [], "columns": [], "part": 0} | recipes()[name] | changes
    maker, table, key, columns, part = (recipe.pop(what) for what in ("maker", "table", "key", "columns", "part"))
    made = globals()[maker](seed=seed, **recipe)
    frame = made[part] if isinstance(made, tuple) else made
    frame = frame[columns] if columns else frame
    if table:
        schema = getattr(schemas, table.upper()).also(key=key)
        return finished(frame, schema, seed=seed, scale=registry.entry(name).scale)
    frame.attrs = {"seed": seed}
    return frame


def campaigns(
    *,
    pairs: dict[str, dict[str, Any]],
    seed: int,
    parts: dict[str, dict[str, Any]] | None = None,
    by: str = "",
    scale: Sequence[float] = (0, 100),
    task: str = "",
    person: str = "",
    by_account: bool = False,
    kinds: dict[str, str] | None = None,
    **options: Any,
) -> pd.DataFrame:
    """Draw a campaign a language pair, and ``parts``, each with annotators of its own.

    options: of ``Design``; pairs, parts: those that differ in each. by: the column that names the part. task: the test
    set whose translations are judged. person: what the last system is called, where its translations are a person's.
    by_account: an account has one HIT. kinds: item types called otherwise.
    """
    frames = []
    for (part, shared), (pair, own) in itertools.product((parts or {"": {}}).items(), pairs.items()):
        design = Design(**options | shared | own)
        stream = f"{part}-{pair}" if part else pair
        true = _meant(task, pair, design, seed) if task else None
        frame = campaign(design, scale=(scale[0], scale[1]), true=true, seed=[seed, *stream.encode()])
        frame[_PAIR] = pair.split("-")
        frame["annotator"] = frame["annotator"].str.replace("sim-annotator", f"sim-{stream}")
        frame["hit"] = frame["hit"].str.replace("sim-", f"sim-{stream}-")
        frames.append(frame.assign(**{by: part} if by else {}))
    frame = pd.concat(frames, ignore_index=True).replace({"item_type": kinds or {}})
    if person:
        last = frame["system"].eq(f"sim-system-{design.systems}")
        frame["item_type"] = frame["item_type"].mask(last & frame["item_type"].eq("system"), "reference")
        frame["system"] = frame["system"].mask(last, person)
    frame["hit"] = frame["annotator"] if by_account else frame["hit"]
    return frame


def _meant(task: str, pair: str, design: Design, seed: int) -> np.ndarray:
    """Return what people mean of a test set's first documents; systems beyond its own are its first ones again."""
    names = translated(seed=seed, task=task)
    quality = names.loc[schemas.with_pair(names)["pair"].eq(pair), "quality"].to_numpy()
    first = quality.reshape(recipes()["tasks"][task][pair][0], -1)[:, : design.documents * design.segments]
    return np.resize(80 + 12 * first, (design.systems, design.documents, design.segments))


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
    z = (frame["score"] - worker.transform("mean")) / worker.transform("std")
    seconds = (hit["ended"].transform("max") - hit["started"].transform("min")).round()
    new = {"z": z, "position": hit.cumcount(), "hit_seconds": seconds}
    return frame.assign(copy=frame["item_type"] != "system", **new).drop(columns=["started", "ended"])


def workers(*, of: str, seed: int) -> pd.DataFrame:
    """Summarise the workers of another recipe as WMT's files do."""
    worker = stand_in(of, seed=seed).groupby([*_PAIR, "annotator"])["score"]
    return worker.agg(["mean", "std"]).reset_index().rename(columns={"std": "sd"})


def official(*, of: str, seed: int) -> pd.DataFrame:
    """Rank the systems of another recipe as WMT's files do: segments are averaged before systems."""
    frame, system = stand_in(of, seed=seed), [*_PAIR, "system"]
    counted = frame[frame["item_type"].isin(["system", "repeat"])]
    segments = counted.groupby([*system, "segment"])[["score", "z"]].mean().groupby(system)
    table = segments.mean().rename(columns={"score": "raw"}).assign(segments=segments.size())
    table = table.assign(judgements=counted.groupby(system).size()).reset_index()
    table = table.sort_values(["src_lang", "z"], ascending=[True, False], ignore_index=True)
    return table.assign(raw=table["raw"].map("{:.1f}".format), z=table["z"].map("{:.3f}".format))


def by_people(**recipe: Any) -> pd.DataFrame:
    r"""Draw direct assessments with z-scores, and what a model says of each item.

    The model says :math:`-0.6 + 0.01 (\bar y - 65) + N(0, 0.2^2)` of the item's mean score.
    """
    frame, rng = campaigns(**recipe), np.random.default_rng(recipe["seed"])
    frame["annotator"] = "sim-person-" + frame["annotator"].str.rpartition("-")[2]
    item, own = frame.groupby(_SEGMENT), frame.groupby([*_PAIR, "annotator"])["score"]
    mean = item["score"].transform("mean")
    frame["model_score"] = (-0.6 + 0.01 * (mean - 65) + rng.normal(0, 0.2, item.ngroups)[item.ngroup()]).round(4)
    return frame.assign(z=(frame["score"] - own.transform("mean")) / own.transform("std", ddof=0))


def contrastive(*, shown: int, **recipe: Any) -> pd.DataFrame:
    """Draw screens on which some of the systems' outputs of a segment stand together."""
    screen = ["annotator", "doc", "segment"]
    frame = campaigns(**recipe).groupby(screen).sample(shown, random_state=recipe["seed"])
    frame = frame.sort_index().reset_index(drop=True)
    hit = frame["annotator"] + "/" + frame["doc"] + "/" + frame["segment"]
    return frame.assign(hit=hit, position=frame.groupby(screen).cumcount() + 1)


# --- Labels and preferences


def labels(
    *, sets: dict[str, list[str]], segments: dict[str, int], people: str, shares: dict[str, list[float]], seed: int
) -> pd.DataFrame:
    """Draw fluency and adequacy labels with an expected kappa of 0.3 (see ``categories``).

    sets: test set -> source languages; segments: of each test set; shares: of each dimension's letters.
    """
    rng, names = np.random.default_rng(seed), [f"sim-{one}" for one in people]
    items = [
        crossed(doc=[f"sim-{name}"], src_lang=own, segment=range(1, segments[name] + 1), annotator=names)
        for name, own in sets.items()
    ]
    frame, frames = pd.concat(items, ignore_index=True).astype({"segment": "str"}), []
    for dimension, share in shares.items():
        codes = categories(0.3, marginal=share, items=len(frame) // len(people), annotators=len(people), rng=rng)
        letters = np.array(list(LABELS[dimension]))[codes.ravel()]
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
    reference, hypothesis = written(0.09 * (7 - place), np.arange(len(frame)), rng)
    split = np.where(rng.random(len(frame)) < 0.1, "dev", "train")
    return frame.assign(
        system="sim-various",
        hypothesis=hypothesis,
        reference=reference,
        z=0.35 * (place - 4.5) + rng.normal(0, 0.4, len(frame)),
        split=np.where(frame["doc"] == "sim-newstest2017", "test", split),
    )


def written(chance: np.ndarray, sentence: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Write sentences of invented words, and translations in which a word is another one with some chance.

    chance: of each translation; sentence: which one it translates, by number from 0. Returns of each translation its
    sentence and its text.
    """
    count = sentence.max() + 1
    length = rng.integers(_SHORTEST, _LONGEST + 1, count)[sentence]
    right = rng.choice(_WORDS, (count, _LONGEST))[sentence]
    wrong = (rng.random(right.shape) < chance[:, None]) & (np.arange(_LONGEST) < length[:, None])
    said = np.where(wrong, rng.choice(_WORDS, right.shape), right)
    texts = [[" ".join(words[:n]) for words, n in zip(own, length)] for own in (right, said)]
    return np.array(texts[0], object), np.array(texts[1], object)


def preferences(
    *, levels: dict[str, Any], strengths: dict[str, dict[str, float]], tie: float, shuffled: bool, seed: int
) -> pd.DataFrame:
    """Draw comparisons of the first system with each ``rival``, in every combination of some columns' levels.

    levels: names, or how many there are. strengths: logarithms of Bradley and Terry's, of what is shown (``unit``).
    tie: share of ties. shuffled: either may stand first. A translation of strength s has Poisson(4 - 2 s) marks.
    """
    best = next(iter(next(iter(strengths.values()))))
    named = {name: range(1, own + 1) if isinstance(own, int) else own for name, own in levels.items()}
    rng, frame = np.random.default_rng([seed, *best.encode()]), crossed(**named).astype("str")
    frame[_PAIR] = frame["pair"].str.split("-").tolist()
    turned = shuffled & (rng.random(len(frame)) < 0.5)
    sides = [np.where(turned, frame["rival"], best), np.where(turned, best, frame["rival"])]
    a, b = (np.array([strengths[unit][name] for unit, name in zip(frame["unit"], side)]) for side in sides)
    chance, drawn = 1 / (1 + np.exp(b - a)), rng.random(len(frame))
    return frame.assign(
        doc="sim-" + frame["unit"] + "-" + frame["doc"] + "-" + frame["pair"],
        system_a=sides[0],
        system_b=sides[1],
        criterion=frame["annotator"].str.split("-").str[1],
        screen="sim/" + (frame.index + 1).astype("str"),
        first="a" if shuffled else "unknown",
        preference=np.select([drawn < tie, drawn < tie + (1 - tie) * chance], ["tie", "a"], "b"),
        close=rng.random(len(frame)) < 0.6 - np.abs(chance - 0.5),
        marks_a=rng.poisson(4 - 2 * a),
        marks_b=rng.poisson(4 - 2 * b),
    )


# --- Metrics' and people's scores of one test set


@cache
def translated(*, task: str, seed: int) -> pd.DataFrame:
    """Draw the translations of a year's test sets: names, whether people judged them, quality, ``text``, texts.

    text: the row of the translation that has its letters, the first system's where they are copied. A word is wrong
    more often in worse ones. All tables of a year and a seed rest on the same.
    """
    parts = []
    for pair, (systems, segments, judged) in recipes()["tasks"][task].items():
        source, target = pair.split("-")
        part = crossed(src_lang=[source], tgt_lang=[target], number=range(1, systems + 1), place=range(segments))
        parts.append(part.assign(judged=part["place"] < judged))
    frame = pd.concat(parts, ignore_index=True)
    sentence = frame.groupby([*_PAIR, "place"], sort=False).ngroup()
    rng, system = np.random.default_rng([seed, *task.encode()]), frame.groupby([*_PAIR, "number"]).ngroup()
    effects = [rng.normal(0, 0.5, system.max() + 1)[system], rng.normal(0, 0.6, len(frame))[sentence]]
    quality = sum(effects) + rng.normal(0, 0.6, len(frame))
    copied = rng.random(len(frame)) < 0.02
    text = frame.index.where(~copied, frame.index.to_series().groupby(sentence).transform("first"))
    chance = np.clip(0.25 - 0.12 * quality[text], 0.02, 0.9)
    source, hypothesis = written(chance, sentence.to_numpy(), np.random.default_rng([seed, *task.encode(), 3]))
    number, place = frame.pop("number").astype("str"), frame.pop("place")
    names = {
        "system": "sim-system-" + number,
        "doc": "sim-doc-" + (place // _DOCUMENT + 1).astype("str").str.zfill(2),
        "segment": (place + 1).astype("str"),
    }
    texts = {"domain": "sim", "source": source, "reference": source, "hypothesis": hypothesis[text]}
    return frame.assign(**names, text=text, quality=quality[text], **texts)


def _scored(names: pd.DataFrame, score: pd.Series | np.ndarray, **told: str) -> pd.DataFrame:
    """Lay scores of translations out as a metric's, with names that are the same in all rows."""
    frame = names[[*_PAIR, *schemas.ITEM]].astype("category")
    return frame.assign(**{name: constant(value, len(frame)) for name, value in told.items()}, score=np.asarray(score))


def metrics(*, task: str, metrics: int, references: list[str], seed: int) -> pd.DataFrame:
    """Draw segment scores of metrics, which read the references, or none (src), in turn."""
    names, rng, frames = translated(seed=seed, task=task), np.random.default_rng([seed, *task.encode(), 1]), []
    for number, weight in enumerate(np.linspace(0.1, 0.75, metrics)):
        noise = rng.normal(0, 1, len(names))[names["text"]]
        score = weight * names["quality"] + np.sqrt(1 - weight**2) * noise
        score = (2 * score).round() / 2 + 0.0 if number % 4 == 0 else score
        told = {"metric": f"sim-metric-{number + 1:02}", "reference": references[number % len(references)]}
        frames.append(_scored(names, score, **told))
    return stacked(frames)


def humans(*, task: str, kinds: list[str], standard: bool = False, seed: int) -> pd.DataFrame:
    """Draw people's scores of the judged segments: mqm (0 to -25, errors subtracted), da-sqm (0 to 100).

    DA is the same as da-sqm, with z-scores of one judgement each, which are the scores where these are ``standard``.
    """
    names, rng = translated(seed=seed, task=task).query("judged"), np.random.default_rng([seed, *task.encode(), 2])
    errors = (2.5 - 3.0 * (names["quality"] + rng.normal(0, 0.5, len(names)))).clip(lower=0).round()
    assessed = (75 + 15 * (names["quality"] + rng.normal(0, 1.2, len(names)))).round().clip(0, 100)
    drawn = {"mqm": 0.0 - errors.clip(upper=25), "da-sqm": assessed, "DA": assessed}
    frame = stacked([_scored(names, drawn[kind], metric=kind) for kind in kinds])
    if kinds == ["DA"]:
        pair = frame.groupby(_PAIR, observed=True)["score"]
        frame = frame.assign(z=(frame["score"] - pair.transform("mean")) / pair.transform("std"), judgements=1)
    if standard:
        texts = {"together": names["system"].to_numpy(), "hypothesis": names["hypothesis"].to_numpy()}
        frame = frame.assign(score=frame["z"], **texts)
    return frame


def averages(*, of: str, seed: int) -> pd.DataFrame:
    """Average the segment scores of another recipe over each system."""
    scores = stand_in(of, seed=seed)
    keys = [name for name in (*_PAIR, "system", "metric", "reference") if name in scores]
    return scores.groupby(keys, observed=True)["score"].mean().reset_index()


# --- Judgements with marked errors


@cache
def judged(*, of: str, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Draw the judgements of a collection among ``tasks``, and the errors in them.

    Errors make the score where they have types. The collection says how many errors count at ``most``, the shares of
    their ``types``, weight and share of each severity, and from which score the weights are subtracted (``top``). Of
    protocols only MQM has types.
    """
    recipe, rng = dict(recipes()["tasks"][of]), np.random.default_rng([seed, 11])
    told = recipe.pop("errors")
    frame = globals()[recipe.pop("maker")](seed=seed, **recipe)
    protocol = frame.get("protocol", pd.Series("" if told["typed"] else "ESA", frame.index))
    number, typed = rng.poisson(0.07 * (100 - frame["score"])).clip(max=told["most"]), ~protocol.str.startswith("ESA")
    errors = frame.drop(columns="score").loc[frame.index.repeat(number)]
    (weights, shares), types = zip(*told["severities"].values(), strict=True), told["types"]
    severity = rng.choice(len(shares), len(errors), p=shares)
    kind = rng.choice([*types], len(errors), p=[*types.values()])
    place, of_type = errors.groupby(level=0).cumcount(), typed[errors.index]
    errors = errors.assign(
        span=(place + 1).astype("str"),
        error_type=np.where(of_type, kind, np.where(kind == "accuracy/omission", "omission", "other")),
        severity=np.array([*told["severities"]])[severity],
        weight=np.where(of_type, np.array(weights)[severity], np.nan),
        suggested=protocol[errors.index].str.startswith("ESAAI") & (rng.random(len(errors)) < 0.7),
        side="target",
    )
    errors["start"] = (6.0 * place).where(errors["error_type"] != "omission")
    errors["end"] = errors["start"] + 5
    if "hypothesis" in errors:
        errors["text"] = [text[6 * n : 6 * n + 5] for text, n in zip(errors["hypothesis"], place, strict=True)]
    lost = errors["weight"].groupby(level=0).sum().reindex(frame.index, fill_value=0.0)
    frame = frame.assign(errors=number, score=frame["score"].where(~typed, told["top"] - lost))
    return frame, errors.reset_index(drop=True)


def copied(**recipe: Any) -> pd.DataFrame:
    """Draw campaigns, and say which judgements are of copies, how these are marked, and their places in their HITs."""
    frame = campaigns(**recipe)
    copy, degraded = frame["item_type"].isin(["degraded", "repeat"]), frame["item_type"].eq("degraded")
    spoilt = degraded.groupby([frame["hit"], frame["system"], frame["doc"], copy]).transform("any")
    mark = np.select([spoilt, copy], ["bad", "dup"], "")
    return frame.assign(copy=copy, mark=mark, position=frame.groupby("hit").cumcount())


def released(*, seed: int) -> pd.DataFrame:
    """Take the scores of all protocols but for copies, and draw those of the model that suggested marks."""
    people, rng = judged(seed=seed, of="protocols")[0].query("~copy"), np.random.default_rng([seed, 14])
    seen = people[people["protocol"].eq("ESAAI-1")]
    score = -np.maximum(0, 4 - (seen["score"] + rng.normal(0, 6, len(seen)) - 80) / 3).round()
    columns = ["protocol", *_PAIR, *schemas.ITEM, "score"]
    return pd.concat([people, seen.assign(protocol="LLM", score=score)], ignore_index=True)[columns]


def side_by_side(**recipe: Any) -> pd.DataFrame:
    """Draw judgements of two systems' outputs on one screen, each by a third of the raters."""
    frame, sides = campaigns(**recipe), []
    for number, (left, right) in enumerate(_SCREENS):
        for position, one, other in (("left", left, right), ("right", right, left)):
            sides.append((f"sim-system-{one}", f"sim-system-{other}", position, f"{left} | {right}", number))
    frame = frame.merge(pd.DataFrame(sides, columns=["system", "against", "position", "screen", "number"]))
    rater = frame["annotator"].str.rpartition("-")[2].astype(int)
    frame = frame[(5 * frame["segment"].astype(int) + frame.pop("number") + rater) % 3 == 0]
    texts = translated(seed=recipe["seed"], task=recipe["task"])
    frame = frame.merge(texts[[*_PAIR, *schemas.ITEM, "source", "hypothesis"]])
    return frame.assign(hit=frame["annotator"] + ": " + frame.pop("screen"))


def indic(*, of: str, split: bool, seed: int) -> pd.DataFrame:
    """Draw IndicMT-Eval's translations with scores out of 25, or as its splits.

    The annotator's own scores are the formula's, clipped at 0, plus N(0, 2²), rounded.
    """
    frame, rng = judged(seed=seed, of=of)[0], np.random.default_rng([seed, 16])
    number = frame["segment"].astype(int)
    source, hypothesis = written((frame["errors"] / 20).to_numpy(), number.to_numpy() - 1, rng)
    own = (frame["score"].clip(lower=0) + rng.normal(0, 2, len(frame))).round().clip(0, 25)
    frame = frame.assign(own_score=own, source=source + ".", reference=source + ".", hypothesis=hypothesis + ".")
    frame["split"] = np.where(of == "zero-shot", of, np.array([*["train"] * 3, "val", "test"])[number % 5])
    frame["row"] = frame.groupby(["tgt_lang", *["split"] * split]).cumcount()
    if split:
        scores = {"score": frame["score"].clip(lower=0) / 25, "own_score": own / 25}
        frame = frame.assign(formula_score=frame["score"], **scores)
    return frame
