"""Stand-ins for collections of several annotators' scores: the shapes of the real tables, drawn from stated models."""

import numpy as np
import pandas as pd

from evalkit import schemas
from evalkit.data import labels
from evalkit.data.simulate.reliability import categories

#: Test set and pair -> translations, as in the label files.
_LABELLED = {("newstest2015", code): 500 for code in ("ces", "deu", "fin", "rus")} | {
    ("newstest2016", code): 560 for code in ("ces", "deu", "fin", "ron", "rus", "tur")
}
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
    frames = []
    for (test_set, language), count in _LABELLED.items():
        for dimension, share in _SHARES.items():
            codes = categories(0.3, marginal=share, items=count, annotators=3, rng=rng)[0]
            frame = pd.DataFrame(
                {"segment": np.repeat(np.arange(1, count + 1), 3).astype(str), "annotator": np.tile(list("ABC"), count),
                 "score": codes.ravel() + 1.0}
            )  # fmt: skip
            letters = list(labels.LABELS[dimension])
            frame["label"] = [letters[code] for code in codes.ravel()]
            frames.append(frame.assign(doc=f"sim-{test_set}", src_lang=language, dimension=dimension))
    frame = pd.concat(frames, ignore_index=True).assign(
        tgt_lang="eng", system="sim-various", item_type="system", annotator=lambda f: "sim-" + f["annotator"]
    )
    frame = schemas.check(frame[list(_order(frame))], labels.SCHEMA, origin="the simulation")
    frame.attrs["seed"] = seed
    return frame


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
                {"segment": np.repeat(np.arange(count), judged).astype(str), "score": score.ravel(),
                 "annotator": np.tile([f"place-{n + 1}" for n in range(judged)], count)}
            )  # fmt: skip
            frames.append(frame.assign(doc=f"sim-{split}", src_lang=source, tgt_lang=target))
    frame = pd.concat(frames, ignore_index=True).assign(system="sim-mlqe-pe", item_type="system")
    frame = schemas.check(frame[list(_order(frame))], schemas.RATINGS, origin="the simulation", scale=(0, 100))
    frame.attrs["seed"] = seed
    return frame


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
    frame = schemas.check(frame[list(_order(frame))], schemas.RATINGS, origin="the simulation", scale=(0, 100))
    frame.attrs = {"seed": seed, "left_out": {"document scores": 0}}
    return frame


def _order(frame: pd.DataFrame) -> list[str]:
    """List a table's columns in the schema's order, its own ones last."""
    known = [name for name in schemas.RATINGS.columns if name in frame]
    return known + [name for name in ("dimension", "label") if name in frame]
