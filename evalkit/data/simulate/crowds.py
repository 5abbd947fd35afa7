"""Stand-ins for collections of several annotators' scores: the shapes of the real tables, drawn from stated models."""

import numpy as np
import pandas as pd

from evalkit.data import direct, labels
from evalkit.data.compared import parity_comparisons, parity_judgements
from evalkit.data.provenance import like
from evalkit.data.simulate.finish import finished
from evalkit.data.simulate.reliability import categories

#: Test set and pair -> translations, as in the label files.
_LABELLED = {("newstest2015", code): 500 for code in ("ces", "deu", "fin", "rus")} | {
    ("newstest2016", code): 560 for code in ("ces", "deu", "fin", "ron", "rus", "tur")
}
_LABELLED_17 = {("newstest2017", code): 560 for code in ("ces", "deu", "fin", "lav", "rus", "tur", "zho")}
#: Letters from the worst to the best in the order by which Sudoh et al. settle disagreement (their footnote 14).
_WORST_FIRST = {"fluency": "FDBAS", "adequacy": "CFNOBAS"}
_ITEM = ["src_lang", "tgt_lang", "doc", "segment"]
_SHARES = {"fluency": [0.1, 0.2, 0.35, 0.15, 0.2], "adequacy": [0.1, 0.01, 0.05, 0.25, 0.27, 0.24, 0.08]}
_PAIRS = (
    ("eng", "deu"),
    ("eng", "zho"),
    ("est", "eng"),
    ("npi", "eng"),
    ("ron", "eng"),
    ("rus", "eng"),
    ("sin", "eng"),
)
_SPLITS = {"train": (7000, 3), "dev": (1000, 6), "test": (1000, 6)}


def sudoh_labels(*, seed: int = 7) -> pd.DataFrame:
    """Draw fluency and adequacy labels by three annotators with an expected kappa of 0.3 (see ``categories``)."""
    rng = np.random.default_rng(seed)
    return _labels(_LABELLED, "ABC", rng, seed)


def sudoh_labels_wmt17(*, seed: int = 7) -> pd.DataFrame:
    """Draw the labels of two annotators on a third test set, by the model of ``sudoh_labels``."""
    return _labels(_LABELLED_17, "AB", np.random.default_rng([seed, 17]), seed)


def sudoh_agreed(*, seed: int = 7) -> pd.DataFrame:
    """Reduce the labels of ``sudoh_labels`` and ``sudoh_labels_wmt17`` to the worst of each translation."""
    frame = pd.concat([sudoh_labels(seed=seed), sudoh_labels_wmt17(seed=seed)], ignore_index=True)
    places = {dimension: {letter: n for n, letter in enumerate(order)} for dimension, order in _WORST_FIRST.items()}
    place = pd.Series([places[d][letter] for d, letter in zip(frame["dimension"], frame["label"], strict=True)])
    worst = frame.loc[place.groupby([frame[name] for name in (*_ITEM, "dimension")], sort=False).idxmin()]
    return finished(worst.assign(annotator=labels.AGREED), labels.SCHEMA, seed=seed)


def sudoh_translations(*, seed: int = 7) -> pd.DataFrame:
    r"""Draw texts and standardised assessments that go with the simulated labels.

    A reference is 6 to 24 invented words. With the mean place m of a translation's adequacy labels (1 to 7), each of
    its words is replaced with probability :math:`0.09 (7 - m)`, and :math:`z \\sim N(0.35 (m - 4.5), 0.4^2)`. A tenth
    of WMT15's and WMT16's counterparts are the development set.
    """
    frame = pd.concat([sudoh_labels(seed=seed), sudoh_labels_wmt17(seed=seed)], ignore_index=True)
    place = frame[frame["dimension"] == "adequacy"].groupby(_ITEM, sort=False)["score"].mean()
    rng = np.random.default_rng([seed, 15])
    words = np.array([a + b for a in ("ba", "ki", "lo", "mu", "ne", "ro", "sa", "ti") for b in ("dan", "fer", "gol")])
    hypotheses, references = [], []
    for m in place:
        reference = rng.choice(words, rng.integers(6, 25))
        replaced = rng.random(len(reference)) < 0.09 * (7 - m)
        hypotheses.append(" ".join(np.where(replaced, rng.choice(words, len(reference)), reference)))
        references.append(" ".join(reference))
    frame = place.index.to_frame(index=False).assign(system="sim-various", hypothesis=hypotheses, reference=references)
    frame["z"] = 0.35 * (place.to_numpy() - 4.5) + rng.normal(0, 0.4, len(frame))
    frame["split"] = np.where(frame["doc"] == "sim-newstest2017", "test", "train")
    training = np.flatnonzero(frame["split"] == "train")
    frame.loc[rng.choice(training, len(training) // 10, replace=False), "split"] = "dev"
    return finished(frame, labels.TRANSLATIONS, seed=seed)


def _labels(sizes: dict[tuple[str, str], int], people: str, rng: np.random.Generator, seed: int) -> pd.DataFrame:
    """Draw the labels of some annotators on test sets of stated sizes."""
    frames = []
    for (test_set, language), count in sizes.items():
        for dimension, share in _SHARES.items():
            codes = categories(0.3, marginal=share, items=count, annotators=len(people), rng=rng)[0]
            frame = pd.DataFrame(
                {
                    "segment": np.repeat(np.arange(1, count + 1), len(people)).astype(str),
                    "annotator": np.tile(list(people), count),
                    "score": codes.ravel() + 1.0,
                }
            )
            letters = list(labels.LABELS[dimension])
            frame["label"] = [letters[code] for code in codes.ravel()]
            frames.append(frame.assign(doc=f"sim-{test_set}", src_lang=language, dimension=dimension))
    frame = pd.concat(frames, ignore_index=True).assign(
        tgt_lang="eng", system="sim-various", item_type="system", annotator=lambda f: "sim-" + f["annotator"]
    )
    return finished(frame, labels.SCHEMA, seed=seed)


def mlqe_pe(*, seed: int = 7) -> pd.DataFrame:
    r"""Draw direct assessments: 3 scores of 7,000 translations and 6 of 2,000, in seven pairs.

    A score is :math:`\operatorname{round}(\min(100, \max(0, 65 + \theta_i + \epsilon)))` with the item's quality
    :math:`\theta_i \sim N(0, 20^2)` and noise :math:`\epsilon \sim N(0, 12^2)`.
    """
    rng = np.random.default_rng(seed)
    frames = []
    for source, target in _PAIRS:
        for split, (count, judged) in _SPLITS.items():
            score = (65 + rng.normal(0, 20, (count, 1)) + rng.normal(0, 12, (count, judged))).round().clip(0, 100)
            frame = pd.DataFrame(
                {
                    "segment": np.repeat(np.arange(count), judged).astype(str),
                    "score": score.ravel(),
                    "annotator": np.tile([f"place-{n + 1}" for n in range(judged)], count),
                }
            )
            frames.append(frame.assign(doc=f"sim-{split}", src_lang=source, tgt_lang=target))
    frame = pd.concat(frames, ignore_index=True).assign(system="sim-mlqe-pe", item_type="system")
    return finished(frame, seed=seed, scale=(0, 100))


def mlqe_pe_people(*, seed: int = 7) -> pd.DataFrame:
    r"""Draw direct assessments by six people (from Russian, three) of 2,000 translations a pair, and a model's.

    Scores follow the model of ``mlqe_pe``; ``z`` standardises each person's. The model's score is
    :math:`-0.6 + 0.01 \theta_i + \epsilon` with :math:`\epsilon \sim N(0, 0.2^2)`; texts have 4 to 30 words.
    """
    rng = np.random.default_rng(seed)
    frames, count = [], 2000
    for source, target in _PAIRS:
        number = 3 if source == "rus" else 6
        quality = rng.normal(0, 20, (count, 1))
        score = (65 + quality + rng.normal(0, 12, (count, number))).round().clip(0, 100)
        facts = {"model_score": (-0.6 + 0.01 * quality[:, 0] + rng.normal(0, 0.2, count)).round(4)}
        facts |= {name: rng.integers(4, 31, count).astype(float) for name in ("source_words", "target_words")}
        frame = pd.DataFrame({name: np.repeat(values, number) for name, values in facts.items()})
        frame["doc"] = np.repeat(["sim-dev", "sim-test"], count // 2 * number)
        frame["segment"] = np.repeat(np.arange(count) % (count // 2), number)
        z = (score - score.mean(axis=0)) / score.std(axis=0)
        people = np.tile([f"sim-person-{n + 1}" for n in range(number)], count)
        frames.append(
            frame.assign(score=score.ravel(), z=z.ravel(), annotator=people, src_lang=source, tgt_lang=target)
        )
    frame = pd.concat(frames, ignore_index=True).astype({"segment": "str"})
    return finished(frame.assign(system="sim-mlqe-pe", item_type="system"), direct.PEOPLE, seed=seed, scale=(0, 100))


def wmt_slt22(*, seed: int = 7) -> pd.DataFrame:
    """Draw scores of sign language translations by 3 annotators: systems near 0 in most cases, humans near 100.

    A system's score is 0 with probability .97, and else 17, 33 or 50; a human's is 100 less an exponential of mean 8.
    """
    rng = np.random.default_rng(seed)
    systems = [f"sim-system-{n}" for n in range(1, 8)] + ["sim-translator"]
    index = pd.MultiIndex.from_product(
        [systems, [str(n) for n in range(488)], ["sim-1", "sim-2", "sim-3"]], names=["system", "segment", "annotator"]
    )
    frame = index.to_frame(index=False)
    human = frame["system"].eq("sim-translator")
    low = np.where(rng.random(len(frame)) < 0.97, 0.0, rng.choice([17.0, 33.0, 50.0], len(frame)))
    frame["score"] = np.where(human, (100 - rng.exponential(8, len(frame))).round().clip(0, 100), low)
    frame["item_type"] = np.where(human, "reference", "system")
    frame = frame.assign(src_lang="sgg", tgt_lang="deu", doc="sim-doc", hit=frame["annotator"])
    frame["started"] = 1.6e9 + 30.0 * np.arange(len(frame))
    frame["ended"] = frame["started"] + 20
    return finished(frame, seed=seed, scale=(0, 100), excluded={"document scores": 0})


def laeubli_parity(*, seed: int = 7) -> pd.DataFrame:
    """Draw preferences between a machine's and a person's translation: ten people, documents and single sentences.

    Of documents the person's is chosen more often (.5 to .35 for the machine's), of sentences neither (.42 each); the
    rest are ties. Each person leans a little to one side: a normal effect of sd .06 on the share of the person's.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for number, criterion in enumerate(["adequacy"] * 5 + ["fluency"] * 5):
        lean = rng.normal(0, 0.06)
        for unit, count, human, machine in (("document", 50, 0.5, 0.35), ("sentence", 104, 0.42, 0.42)):
            chances = [human + lean, machine - lean, 1 - human - machine]
            drawn = rng.choice(["human", "mt", "tie"], count, p=chances)
            rows += [
                (f"sim-{number}", criterion, unit, f"{unit[0].upper()}-{k}", choice)
                for k, choice in enumerate(drawn, start=1)
            ]
    columns = ["annotator", "criterion", "unit", "item", "choice"]
    frame = parity_judgements(pd.DataFrame(rows, columns=columns), origin="the simulation")
    return finished(frame, seed=seed, scale=(0, 1), excluded={"comparisons of sentences from judged documents": 0})


def laeubli_preferences(*, seed: int = 7) -> pd.DataFrame:
    """Draw the preferences of ``laeubli_parity`` as a row per comparison."""
    judged = laeubli_parity(seed=seed)
    return like(parity_comparisons(judged, origin="the simulation"), judged)
