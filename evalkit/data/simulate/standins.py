r"""Stand-ins for collections of scores, labels and preferences: the shapes of the real tables, from stated models."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from evalkit.data import schemas
from evalkit.data.compared import parity_comparisons, parity_judgements
from evalkit.data.provenance import like
from evalkit.data.simulate.campaign import Behaviour, Control, Design, Quality, campaign, finished
from evalkit.data.simulate.reliability import categories

_ITEM = ["src_lang", "tgt_lang", "doc", "segment"]
_LETTERS = {"fluency": "FDBAS", "adequacy": "NOCFBAS"}


def campaigns(
    *,
    pairs: dict[str, dict[str, dict[str, Any]]],
    seed: int,
    scale: Sequence[float] = (0, 100),
    kinds: dict[str, str] | None = None,
    excluded: dict[str, int] | None = None,
    **parts: dict[str, Any],
) -> pd.DataFrame:
    """Draw a campaign a language pair, each with annotators of its own.

    parts: options of ``Design``, ``Quality``, ``Behaviour`` and ``Control``; pairs: those that differ in each. kinds:
    item types that are called otherwise.
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
            seed=[seed, *pair.encode()],
        )
        frame["annotator"] = frame["annotator"].str.replace("sim-annotator", f"sim-{pair}")
        frame["hit"] = frame["hit"].str.replace("sim-", f"sim-{pair}-")
        frames.append(frame.replace({"item_type": kinds or {}}))
    frame = pd.concat(frames, ignore_index=True)
    return finished(frame, seed=seed, scale=(low, high), excluded=excluded or {})


def calibration(**recipe: Any) -> pd.DataFrame:
    """Draw calibration HITs, one an account."""
    frame = campaigns(**recipe)
    return frame.assign(hit=frame["annotator"])


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
    from evalkit.data.simulate import stand_in

    worker = stand_in(of, seed=seed).groupby(["src_lang", "tgt_lang", "annotator"])["score"]
    frame = worker.agg(["mean", "std"]).map(_printed).reset_index().rename(columns={"std": "sd"})
    frame.attrs = {"seed": seed}
    return frame


def official(*, of: str, seed: int) -> pd.DataFrame:
    """Rank the systems of another recipe as WMT's files do: segments are averaged before systems."""
    from evalkit.data.simulate import stand_in

    frame = stand_in(of, seed=seed)
    counted, system = frame[frame["item_type"].isin(["system", "repeat"])], ["src_lang", "tgt_lang", "system"]
    segments = counted.groupby([*system, "segment"])[["score", "z"]].mean().groupby(system)
    table = segments.mean().rename(columns={"score": "raw"}).assign(segments=segments.size())
    table = table.assign(judgements=counted.groupby(system).size()).reset_index()
    table = table.sort_values(["src_lang", "z"], ascending=[True, False], ignore_index=True)
    table = table.assign(raw=table["raw"].map("{:.1f}".format), z=table["z"].map("{:.3f}".format))
    table.attrs = {"seed": seed}
    return table


def labels(
    *, sets: dict[str, list[str]], segments: dict[str, int], people: str, shares: dict[str, list[float]], seed: int
) -> pd.DataFrame:
    """Draw fluency and adequacy labels with an expected kappa of 0.3 (see ``categories``).

    sets: test set -> source languages; segments: of each test set; shares: of each dimension's letters.
    """
    rng, frames = np.random.default_rng(seed), []
    tasks = [(test_set, language) for test_set, own in sets.items() for language in own]
    for (test_set, language), (dimension, share) in [(task, one) for task in tasks for one in shares.items()]:
        count = segments[test_set]
        codes = categories(0.3, marginal=share, items=count, annotators=len(people), rng=rng)[0]
        index = {"segment": np.arange(1, count + 1).astype(str), "annotator": [f"sim-{one}" for one in people]}
        frame = pd.DataFrame(
            {"score": codes.ravel() + 1.0}, index=pd.MultiIndex.from_product(index.values(), names=index)
        )
        frame["label"] = np.array(list(_LETTERS[dimension]))[codes.ravel()]
        same = {"doc": f"sim-{test_set}", "src_lang": language, "dimension": dimension}
        frames.append(frame.reset_index().assign(tgt_lang="eng", system="sim-various", item_type="system", **same))
    return finished(pd.concat(frames, ignore_index=True), schemas.RATINGS.also(key=["dimension"]), seed=seed)


def _both(of: list[str], seed: int) -> pd.DataFrame:
    """Draw other recipes and put them on top of each other."""
    from evalkit.data.simulate import stand_in

    return pd.concat([stand_in(name, seed=seed) for name in of], ignore_index=True)


def agreed(*, of: list[str], worst_first: dict[str, str], seed: int) -> pd.DataFrame:
    """Reduce the labels of other recipes to the worst of each translation."""
    frame = _both(of, seed)
    place = pd.Series(
        [worst_first[d].index(label) for d, label in zip(frame["dimension"], frame["label"], strict=True)]
    )
    worst = frame.loc[place.groupby([frame[name] for name in (*_ITEM, "dimension")], sort=False).idxmin()]
    return finished(worst.assign(annotator="agreed"), schemas.RATINGS.also(key=["dimension"]), seed=seed)


def translations(*, of: list[str], seed: int) -> pd.DataFrame:
    r"""Draw texts and standardised assessments that go with the labels of other recipes.

    A reference is 6 to 24 invented words. With the mean place m of a translation's adequacy labels (1 to 7), each of
    its words is replaced with probability :math:`0.09 (7 - m)`, and :math:`z \sim N(0.35 (m - 4.5), 0.4^2)`. A tenth
    of what is not WMT17's is the development set.
    """
    frame, rng = _both(of, seed), np.random.default_rng([seed, 15])
    place = frame[frame["dimension"] == "adequacy"].groupby(_ITEM, sort=False)["score"].mean()
    words = np.array([a + b for a in ("ba", "ki", "lo", "mu", "ne", "ro", "sa", "ti") for b in ("dan", "fer", "gol")])
    references = [rng.choice(words, rng.integers(6, 25)) for _ in place]
    hypotheses = [
        np.where(rng.random(len(one)) < 0.09 * (7 - m), rng.choice(words, len(one)), one)
        for one, m in zip(references, place, strict=True)
    ]
    frame = place.index.to_frame(index=False).assign(system="sim-various")
    frame["hypothesis"], frame["reference"] = ([" ".join(one) for one in texts] for texts in (hypotheses, references))
    frame["z"] = 0.35 * (place.to_numpy() - 4.5) + rng.normal(0, 0.4, len(frame))
    split = np.where(rng.random(len(frame)) < 0.1, "dev", "train")
    frame["split"] = np.where(frame["doc"] == "sim-newstest2017", "test", split)
    frame.attrs = {"seed": seed}
    return frame


def direct(*, pairs: dict[str, int], splits: dict[str, list[int]], model: bool, seed: int) -> pd.DataFrame:
    r"""Draw direct assessments: an item's quality :math:`N(65, 20^2)` with noise :math:`N(0, 12^2)`, rounded.

    pairs: how many people there are at most in each. splits: how many items, and scores of each. model: adds what a
    model says, :math:`-0.6 + 0.01 \theta + N(0, 0.2^2)`, each person's z-scores, and lengths of 4 to 30 words.
    """
    rng, frames, person = np.random.default_rng(seed), [], "sim-person" if model else "place"
    for pair, split in [(pair, split) for pair in pairs for split in splits]:
        count, people = splits[split][0], min(splits[split][1], pairs[pair])
        quality = rng.normal(0, 20, (count, 1))
        score = (65 + quality + rng.normal(0, 12, (count, people))).round().clip(0, 100)
        frame = pd.DataFrame({"segment": np.repeat(np.arange(count), people).astype(str), "score": score.ravel()})
        if model:
            facts = {"model_score": (-0.6 + 0.01 * quality[:, 0] + rng.normal(0, 0.2, count)).round(4)}
            facts |= {name: rng.integers(4, 31, count).astype(float) for name in ("source_words", "target_words")}
            frame = frame.assign(**{name: np.repeat(values, people) for name, values in facts.items()})
        frame["annotator"] = np.tile([f"{person}-{n + 1}" for n in range(people)], count)
        source, _, target = pair.partition("-")
        frames.append(frame.assign(doc=f"sim-{split}", src_lang=source, tgt_lang=target))
    frame = pd.concat(frames, ignore_index=True).assign(system="sim-mlqe-pe", item_type="system")
    if model:
        own = frame.groupby(["src_lang", "tgt_lang", "annotator"])["score"]
        frame["z"] = (frame["score"] - own.transform("mean")) / own.transform("std", ddof=0)
    return finished(frame, seed=seed, scale=(0, 100))


def signed(*, seed: int) -> pd.DataFrame:
    """Draw scores of sign language translations by 3 annotators: systems near 0 in most cases, humans near 100.

    A system's score is 0 with probability .97, and else 17, 33 or 50; a human's is 100 less an exponential of mean 8.
    """
    rng = np.random.default_rng(seed)
    systems, people = [*(f"sim-system-{n}" for n in range(1, 8)), "sim-translator"], ["sim-1", "sim-2", "sim-3"]
    levels = {"system": systems, "segment": np.arange(488).astype(str), "annotator": people}
    frame = pd.MultiIndex.from_product(levels.values(), names=levels).to_frame(index=False)
    human, started = frame["system"].eq("sim-translator"), 1.6e9 + 30.0 * np.arange(len(frame))
    low = np.where(rng.random(len(frame)) < 0.97, 0.0, rng.choice([17.0, 33.0, 50.0], len(frame)))
    frame["score"] = np.where(human, (100 - rng.exponential(8, len(frame))).round().clip(0, 100), low)
    frame["item_type"] = np.where(human, "reference", "system")
    frame = frame.assign(src_lang="sgg", tgt_lang="deu", doc="sim-doc", hit=frame["annotator"], started=started)
    return finished(frame.assign(ended=started + 20), seed=seed, scale=(0, 100), excluded={"document scores": 0})


def contrastive(*, seed: int) -> pd.DataFrame:
    """Draw scores of three of ten systems' outputs on each of 96 screens, by two people.

    A score is 75 less 3 points a place of the system, plus N(0, 8²) of the screen and N(0, 10²), rounded to fives.
    """
    rng = np.random.default_rng(seed)
    screen = np.repeat(np.arange(96), 3)
    system = np.concatenate([rng.choice(10, 3, replace=False) for _ in range(96)])
    meant = 75 + rng.normal(0, 8, 96)[screen] - 3 * system + rng.normal(0, 10, len(screen))
    frame = pd.DataFrame({"score": (5 * (meant / 5).round()).clip(0, 100), "position": np.tile([1, 2, 3], 96)})
    frame["system"] = [f"sim-system-{one + 1}" for one in system]
    frame["annotator"] = [f"sim-person{one % 2 + 1}" for one in screen]
    frame["hit"] = frame["annotator"] + "/" + pd.Series(screen + 1).astype("str")
    frame["doc"], frame["segment"] = [f"sim-doc-{one // 12}" for one in screen], [f"s{one // 2 % 6}" for one in screen]
    frame = frame.assign(src_lang="eng", tgt_lang="jpn", item_type="system")
    return finished(frame, seed=seed, scale=(0, 100))


def parity(*, seed: int) -> pd.DataFrame:
    """Draw preferences between a machine's and a person's translation: ten people, documents and single sentences.

    Of documents the person's is chosen more often (.5 to .35 for the machine's), of sentences neither (.42 each); the
    rest are ties. Each person leans a little to one side: a normal effect of sd .06 on the share of the person's.
    """
    rng, frames = np.random.default_rng(seed), []
    for number in range(10):
        lean = rng.normal(0, 0.06)
        for unit, count, human, machine in (("document", 50, 0.5, 0.35), ("sentence", 104, 0.42, 0.42)):
            chances = [human + lean, machine - lean, 1 - human - machine]
            items = [f"{unit[0].upper()}-{k}" for k in range(1, count + 1)]
            frame = pd.DataFrame({"item": items, "choice": rng.choice(["human", "mt", "tie"], count, p=chances)})
            named = {"annotator": f"sim-{number}", "criterion": ("adequacy", "fluency")[number // 5], "unit": unit}
            frames.append(frame.assign(**named))
    frame = parity_judgements(pd.concat(frames, ignore_index=True), origin="the simulation")
    return finished(frame, seed=seed, scale=(0, 1), excluded={"comparisons of sentences from judged documents": 0})


def parity_preferences(*, seed: int) -> pd.DataFrame:
    """Draw the preferences of ``parity`` as a row per comparison."""
    judged = parity(seed=seed)
    return like(parity_comparisons(judged, origin="the simulation"), judged)


def literary(*, strengths: dict[str, float], pairs: dict[str, str], seed: int) -> pd.DataFrame:
    """Draw three comparisons of each of 180 paragraphs: the first way of translating against each other.

    strengths: logarithms of Bradley and Terry's. A translation of strength s has Poisson(4 - 2 s) marks. pairs: target
    -> source language.
    """
    rng, (best, *others) = np.random.default_rng([seed, *b"literary"]), strengths
    levels = {"tgt_lang": list(pairs), "book": range(6), "segment": range(1, 11), "other": others}
    frame = pd.MultiIndex.from_product(levels.values(), names=levels).to_frame(index=False)
    swapped = rng.random(len(frame)) < 0.5
    frame["system_a"], frame["system_b"] = (
        np.where(swapped, frame["other"], best),
        np.where(swapped, best, frame["other"]),
    )
    a, b = (frame[f"system_{side}"].map(strengths) for side in "ab")
    chance = 1 / (1 + np.exp(b - a))
    frame["preference"] = np.where(rng.random(len(frame)) < chance, "a", "b")
    frame["close"] = rng.random(len(frame)) < 0.6 - (chance - 0.5).abs()
    frame["marks_a"], frame["marks_b"] = rng.poisson(4 - 2 * a), rng.poisson(4 - 2 * b)
    frame["doc"] = "sim-book-" + frame.pop("book").astype("str") + "-" + frame["tgt_lang"]
    frame["screen"] = [f"sim/{number}" for number in range(1, len(frame) + 1)]
    frame = frame.drop(columns="other").astype({"segment": "str"})
    frame = frame.assign(src_lang=frame["tgt_lang"].map(pairs), annotator="unnamed", first="a")
    return finished(frame, schemas.COMPARISONS, seed=seed)


def literary_marks(*, of: str, labels: dict[str, float], seed: int) -> pd.DataFrame:
    """Give the marks that ``literary`` counts a label."""
    compared, rng = _both([of], seed), np.random.default_rng([seed, *b"labels"])
    place, frames = ["src_lang", "tgt_lang", "doc", "segment", "annotator", "screen"], []
    for side in "ab":
        frame = compared.loc[compared.index.repeat(compared[f"marks_{side}"]), [*place, f"system_{side}"]]
        span = (frame.groupby(level=0).cumcount() + 1).astype("str")
        frames.append(frame.rename(columns={f"system_{side}": "system"}).assign(span=span))
    frame = pd.concat(frames, ignore_index=True)
    drawn = rng.choice(list(labels), len(frame), p=list(labels.values()))
    frame = frame.assign(error_type=drawn, severity=schemas.UNSTATED, side="target")
    return finished(frame, schemas.SPANS.also(key=["screen"]), seed=seed)
