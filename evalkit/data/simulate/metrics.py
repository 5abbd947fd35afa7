r"""Stand-ins for metrics tasks: metrics and humans who score the same translations, drawn from one stated model.

Translation :math:`(s, n)` of system s has the quality :math:`q_{sn} = \alpha_s + \beta_n + \epsilon_{sn}`, with
:math:`\alpha_s \sim N(0, 0.5^2)`, :math:`\beta_n \sim N(0, 0.6^2)`, :math:`\epsilon \sim N(0, 0.6^2)`. Two percent of
translations are another system's, letter by letter, and share its quality. Metric m reports
:math:`\lambda_m q + \sqrt{1 - \lambda_m^2}\, e` with noise :math:`e \sim N(0, 1)` of its own, the same for the same
text; every fourth metric rounds to steps of 0.5, and so ties. Human scores add noise for each translation anew, so
that the same text may get two scores.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from evalkit.data import schemas
from evalkit.data.mtme import constant, stacked
from evalkit.data.simulate.finish import finished


@dataclass(frozen=True)
class Task:
    """Say how large a simulated metrics task of one language pair is."""

    source: str
    target: str
    systems: int
    segments: int
    judged: int  # segments that humans scored
    metrics: tuple[str, ...]
    doc: int = 10  # segments in a document


_WMT23 = tuple(f"sim-metric-{number:02d}" for number in range(1, 44))
_PAIRS23 = (Task("eng", "deu", 12, 300, 250, _WMT23), Task("zho", "eng", 15, 350, 300, _WMT23))
_FIVE = ("TER", "chrF", "YiSi-2", "parchrf++", "SWSS+METEOR")
_SOURCES = ("ces", "deu", "iku", "jpn", "khm", "pol", "pus", "rus", "tam", "zho")
_TARGETS = ("ces", "deu", "iku", "jpn", "pol", "rus", "tam", "zho")
_PAIRS20 = tuple(Task(source, "eng", 11, 300, 250, tuple(f"sim-{name}" for name in _FIVE)) for source in _SOURCES)
_PAIRS20 += tuple(Task("eng", target, 9, 250, 200, tuple(f"sim-{name}" for name in _FIVE[:4])) for target in _TARGETS)
_PAIRS17 = tuple(Task(source, "eng", 8, 300, 300, ()) for source in ("ces", "deu", "fin", "lav", "rus", "tur", "zho"))


def metric_scores(*, seed: int = 7) -> pd.DataFrame:
    """Draw segment scores of 43 metrics in two language pairs; half of the metrics read no reference."""
    return finished(stacked([_metrics(task, seed) for task in _PAIRS23]), schemas.METRIC_SCORES, seed=seed)


def metric_system_scores(*, seed: int = 7) -> pd.DataFrame:
    """Average the segment scores of ``metric_scores`` over each system."""
    return _averaged(metric_scores(seed=seed), ["metric", "reference"])


def metric_human_scores(*, seed: int = 7) -> pd.DataFrame:
    """Draw MQM (0 to -25, errors subtracted) and DA+SQM (0 to 100) of the judged segments of ``metric_scores``."""
    frames = []
    for task in _PAIRS23:
        quality = _quality(task, seed)[0][:, : task.judged]
        rng = _rng(task, seed, "human")
        errors = np.maximum(0, 2.5 - 3.0 * (quality + rng.normal(0, 0.5, quality.shape))).round()
        frames.append(_table(task, -np.minimum(errors, 25), "mqm"))
        frames.append(_table(task, _assessed(quality, rng), "da-sqm"))
    return finished(stacked(frames), schemas.METRIC_SCORES, seed=seed)


def metric_human_system_scores(*, seed: int = 7) -> pd.DataFrame:
    """Average the human scores of ``metric_human_scores`` over each system."""
    return _averaged(metric_human_scores(seed=seed), ["metric"])


def metric_outputs(*, seed: int = 7) -> pd.DataFrame:
    """Write the outputs behind ``metric_scores``: made-up texts, equal where a translation is another system's."""
    frame = pd.concat([_outputs(task, seed) for task in _PAIRS23], ignore_index=True)
    frame.attrs["seed"] = seed
    return frame


def translations(source: str, target: str, *, seed: int = 7) -> pd.DataFrame:
    """List the judged translations of one language pair of ``metric_scores`` with their ``quality``, for other tables.

    Columns src_lang, tgt_lang, system, doc, segment, quality (unitless). Source and target: as in the tables.
    """
    [task] = [task for task in _PAIRS23 if (task.source, task.target) == (source, target)]
    table = _table(task, _quality(task, seed)[0][:, : task.judged], "quality")
    names = ["src_lang", "tgt_lang", "system", "doc", "segment"]
    return table.astype(dict.fromkeys(names, "str")).rename(columns={"score": "quality"}).drop(columns="metric")


def darr_metrics(*, seed: int = 7) -> pd.DataFrame:
    """Draw segment scores of four or five metrics in WMT20's 18 language pairs."""
    frames = [_metrics(task, seed).assign(reference=lambda f: constant("newstest2020", len(f))) for task in _PAIRS20]
    return finished(stacked(frames), schemas.METRIC_SCORES, seed=seed)


def darr_assessments(*, seed: int = 7) -> pd.DataFrame:
    """Draw direct assessments (0-100, one judgement each) of the judged segments of ``darr_metrics``."""
    frames = []
    for task in _PAIRS20:
        score = _assessed(_quality(task, seed)[0][:, : task.judged], _rng(task, seed, "human"))
        frame = _table(task, score, "DA")
        frames.append(frame.assign(z=(frame["score"] - score.mean()) / score.std(), judgements=1))
    return finished(stacked(frames), schemas.METRIC_SCORES, seed=seed)


def single_assessments(*, seed: int = 7) -> pd.DataFrame:
    """Draw standardised assessments of single translations with their texts, as WMT17's."""
    frames = []
    for task in _PAIRS17:
        quality = _quality(task, seed)[0]
        frame = _table(task, quality + _rng(task, seed, "human").normal(0, 0.4, quality.shape), "DA")
        texts = _outputs(task, seed)["hypothesis"]
        drawn = _rng(task, seed, "drawn").permutation(len(frame))[:560]
        frame = frame.assign(together=frame["system"].astype("str"), hypothesis=texts).iloc[np.sort(drawn)]
        frames.append(frame.reset_index(drop=True))
    return finished(stacked(frames), schemas.METRIC_SCORES, seed=seed)


def _rng(task: Task, seed: int, *what: str) -> np.random.Generator:
    """Give each language pair and purpose its own stream of numbers, so that all tables fit together."""
    return np.random.default_rng([seed, *"|".join([task.source, task.target, *what]).encode()])


def _quality(task: Task, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw the quality of each translation, systems × segments, and whose text it is."""
    rng = _rng(task, seed, "quality")
    shape = (task.systems, task.segments)
    quality = rng.normal(0, 0.5, (task.systems, 1)) + rng.normal(0, 0.6, task.segments) + rng.normal(0, 0.6, shape)
    whose = np.repeat(np.arange(task.systems)[:, None], task.segments, axis=1)
    copied = (rng.random(shape) < 0.02) & (np.arange(task.systems)[:, None] > 0)
    whose[copied] = 0  # the first system's text
    return np.take_along_axis(quality, whose, axis=0), whose


def _assessed(quality: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw scores from 0 to 100 that people give translations of some quality."""
    return (75 + 15 * (quality + rng.normal(0, 1.2, quality.shape))).round().clip(0, 100)


def _metrics(task: Task, seed: int) -> pd.DataFrame:
    """Draw what each metric reports about each translation."""
    quality, whose = _quality(task, seed)
    frames = []
    for number, (name, weight) in enumerate(zip(task.metrics, np.linspace(0.1, 0.75, len(task.metrics)), strict=True)):
        noise = np.take_along_axis(_rng(task, seed, name).normal(0, 1, quality.shape), whose, axis=0)
        score = weight * quality + np.sqrt(1 - weight**2) * noise
        frame = _table(task, (2 * score).round() / 2 + 0.0 if number % 4 == 0 else score, name)
        frames.append(frame.assign(reference=constant(("refA", "src")[number % 2], len(frame))))
    return stacked(frames)


def _table(task: Task, scores: np.ndarray, metric: str) -> pd.DataFrame:
    """Lay scores, systems × segments, out as rows."""
    systems, segments = scores.shape
    names = [f"sim-system-{number:02d}" for number in range(1, systems + 1)]
    place = np.tile(np.arange(segments), systems)
    docs = [f"sim-doc-{number:03d}" for number in range(segments // task.doc + 1)]
    return pd.DataFrame(
        {
            "src_lang": constant(task.source, scores.size),
            "tgt_lang": constant(task.target, scores.size),
            "system": pd.Categorical.from_codes(np.repeat(np.arange(systems), segments), categories=names),
            "doc": pd.Categorical.from_codes(place // task.doc, categories=docs),
            "segment": pd.Categorical.from_codes(place, categories=[str(n) for n in range(1, segments + 1)]),
            "metric": constant(metric, scores.size),
            "score": scores.ravel(),
        }
    )


def _outputs(task: Task, seed: int) -> pd.DataFrame:
    """Write a text for each translation."""
    whose = _quality(task, seed)[1].ravel()
    frame = (
        _table(task, np.zeros((task.systems, task.segments)), "text").drop(columns=["metric", "score"]).astype("str")
    )
    base = "Simulated text of segment " + frame["segment"]
    return frame.assign(
        domain="sim", source=base, reference=base, hypothesis=base + [f", version {n + 1}" for n in whose]
    )


def _averaged(scores: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """Average segment scores over each system."""
    keys = ["src_lang", "tgt_lang", "system", *names]
    table = scores.groupby(keys, observed=True)["score"].mean().reset_index()
    return finished(table, schemas.SYSTEM_SCORES, seed=scores.attrs["seed"])
