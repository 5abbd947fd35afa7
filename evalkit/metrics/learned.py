"""Learn to score translations from cheap features, and hold that against each single metric, as Sai et al. 2023 do.

The protocol is the paper's (section 6, appendix B.2): three folds without a common English sentence; ``cv`` learns from
all languages of the other two folds, ``zero_shot`` from the same without the language that is tested. A neural metric
that was trained the same way (``neural.comet``) must beat this baseline.

Names are found again across scripts by their consonants. Unicode lays the scripts that descend from Brahmi out alike:
the same letter stands at the same place of each block of 128, so one row of sounds reads Devanagari, Bengali, Gurmukhi,
Gujarati, Tamil, Telugu, Kannada and Malayalam.
"""

from __future__ import annotations

import hashlib
import itertools
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import rapidfuzz
from rapidfuzz import fuzz, process
from scipy import stats
from scipy.sparse.csgraph import connected_components

from evalkit import DataError
from evalkit.metrics.lexical import LOWER_IS_BETTER, remembered, texts
from evalkit.stats.correlation import kendall_b

#: Folds of English sentences, as in the paper.
FOLDS = 3
#: What the best single metric is called: chosen on the training folds, never on the fold that it is tested on.
BEST = "best_single"
#: The texts of an example.
TEXTS = ("source", "hypothesis", "reference")
_ALIKE = 95.0  # of 100: from this likeness on, two sentences are spellings of one
_HEARD = 75.0  # of 100: from this likeness of consonants on, a word is taken for a name
_DIGITS = 10  # of predictions: the same translation by two systems ties, whatever the order in which a processor adds
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_FIRST, _LAST = 0x0900, 0x0D7F  # Devanagari to Malayalam
# Voiced, unvoiced and aspirated letters share a sound, because Tamil writes them alike; y and h come and go.
_CONSONANTS = dict(enumerate("kkkknssssnttttnttttnnppppn rrlllpsss ", 0x15))
_OTHERS = {0x02: "n", 0x4E: "t", 0x70: "r", 0x71: "p", 0x7A: "n", 0x7B: "n", 0x7C: "r", 0x7D: "l", 0x7E: "l", 0x7F: "k"}
_INDIC = _CONSONANTS | _OTHERS  # nasal dot, Assamese r and w, Malayalam's consonants without a vowel
_LATIN = dict(zip("bcdfgjklmnpqrstvwxz", "pktpkskl" + "nnpkrstppss"))
_SOFT = re.compile(r"c(?=[eiyh])")
_EDGES = "।॥'’\"“”‘…–—-.,;:!?()[]{}«»/*"
_ENDS = re.compile(r"[.!?:]['\"”’)]*$")
_Models = Mapping[str, Callable[[int], Any]]  # of a seed, to a regression of scikit-learn


def sentence_groups(sources: Sequence[str]) -> np.ndarray:
    """Number English sentences so that spellings of the same one share a number, (rows,).

    Sentences are the same if 95 % of their letters and digits are alike (share of characters kept in order): languages
    of one release differ by a lost space or article, and such a pair would leak into a test fold.

    >>> sentence_groups(["The U.N. also hopes.", "The U.N. alsohopes.", "It rains."]).tolist()
    [0, 0, 1]
    """
    plain = [re.sub(r"\W", "", unicodedata.normalize("NFKC", str(source))).casefold() for source in sources]
    codes, distinct = pd.factorize(np.array(plain, dtype=object))
    near = process.cdist(distinct, distinct, scorer=fuzz.ratio, score_cutoff=_ALIKE) > 0
    labels = connected_components(near, directed=False)[1][codes] if len(distinct) else codes
    return pd.factorize(labels)[0]


def folds(groups: np.ndarray, *, k: int = FOLDS, seed: int = 7) -> np.ndarray:
    """Deal groups into k folds of as many groups each as can be; return each row's fold, 0 to k-1.

    >>> fold = folds(np.array([0, 0, 1, 2, 2, 3]), k=2)
    >>> bool(fold[0] == fold[1] and fold[3] == fold[4]), np.bincount(fold[[0, 2, 3, 5]]).tolist()
    (True, [2, 2])
    """
    distinct, codes = np.unique(groups, return_inverse=True)
    if not 2 <= k <= len(distinct):
        raise DataError(f"{len(distinct)} English sentences make no {k} folds. Ask for 2 to {len(distinct)} folds.")
    dealt = np.empty(len(distinct), int)
    dealt[np.random.default_rng(seed).permutation(len(distinct))] = np.arange(len(distinct)) % k
    return dealt[codes]


def standing(scores: pd.Series, language: pd.Series) -> pd.Series:
    """Replace scores by their standing among those of their language, as normal quantiles; ties at their middle.

    Languages have annotators of their own who use the scale differently, and a few totals lie far below the rest: what
    is common to languages is the order. Source: Blom 1958.

    >>> standing(pd.Series([0.0, 25, 25, -100]), pd.Series(["a", "a", "b", "b"])).round(2).tolist()
    [-0.59, 0.59, 0.59, -0.59]
    """
    rank = scores.groupby(language).rank()
    size = scores.groupby(language).transform("size")
    return pd.Series(stats.norm.ppf((rank - 0.375) / (size + 0.25)), index=scores.index)


def ridge(seed: int) -> Any:
    """Make a linear regression on standardised features, its penalty chosen by leave-one-out on the training rows."""
    from sklearn.linear_model import RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), RidgeCV(alphas=np.logspace(-1, 4, 11)))


def boosting(seed: int) -> Any:
    """Make gradient boosting of small regression trees: bends and interactions that ``ridge`` cannot have."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    size = {"max_iter": 120, "learning_rate": 0.05, "max_leaf_nodes": 8, "min_samples_leaf": 40}
    return HistGradientBoostingRegressor(**size, l2_regularization=1.0, early_stopping=False, random_state=seed)


#: Learned models by name: functions of a seed that make a regression with ``fit`` and ``predict``.
MODELS: _Models = {"ridge": ridge, "boosting": boosting}


def out_of_fold(
    examples: pd.DataFrame, *, single: Sequence[str], models: _Models = MODELS, seed: int = 7
) -> pd.DataFrame:
    """Predict every example by models that saw neither its English sentence nor, for zero_shot, its language.

    examples: columns language, source, score (higher is better), as ``with_metrics`` makes them, any index; all further
    columns are finite numbers that the models look at, among them, by the names in ``single``, the single metrics to
    compare with (each with higher meaning better, so give TER its minus).
    Returns setting (cv | zero_shot), language, sentence, fold, score, a column for each of ``models`` and of
    ``single``, and ``best_single``: in each fold the metric with the highest mean τ-b over the languages trained on.
    Raises DataError for a missing number, or a single language (zero_shot needs two).
    """
    sentence, language = sentence_groups(examples["source"]), examples["language"]
    if language.nunique() < 2:
        raise DataError("Zero-shot scoring leaves one language out, so at least two are needed. Give more languages.")
    fold, parts = folds(sentence, seed=seed), []
    for left_out in (None, *language.unique()):
        here = language.notna() if left_out is None else language == left_out
        for number in range(FOLDS):
            known, tested = fold != number, (fold == number) & here
            part = _predicted(examples[known & ~here if left_out else known], examples[tested], single, models, seed)
            setting = "zero_shot" if left_out else "cv"
            parts.append(part.assign(setting=setting, sentence=sentence[tested], fold=number))
    return pd.concat(parts, ignore_index=True)


def unseen(
    examples: pd.DataFrame, others: pd.DataFrame, *, single: Sequence[str], models: _Models = MODELS, seed: int = 7
) -> pd.DataFrame:
    """Predict other languages by models of all of ``examples`` but those with an English sentence of ``others``.

    Arguments and result as for ``out_of_fold``; setting is zero_shot and the only fold 0. ``attrs["excluded"]`` counts
    the examples that were not trained on because of their sentence.
    """
    sentence, tested = np.split(sentence_groups([*examples["source"], *others["source"]]), [len(examples)])
    trained = ~np.isin(sentence, tested)
    if not trained.any():
        raise DataError("All examples share an English sentence with the other languages. Train on other sentences.")
    table = _predicted(examples[trained], others, single, models, seed).reset_index(drop=True)
    table = table.assign(setting="zero_shot", sentence=tested, fold=0)
    table.attrs["excluded"] = {"examples with a tested sentence": int((~trained).sum())}
    return table


def _predicted(
    known: pd.DataFrame, asked: pd.DataFrame, single: Sequence[str], models: _Models, seed: int
) -> pd.DataFrame:
    """Predict rows by models of known ones, and by the single metric with the highest mean τ-b over known languages."""
    numbers = pd.concat([known, asked]).drop(columns=["language", "source"])
    gaps = ~np.isfinite(numbers.to_numpy(float)).all(axis=0)
    if gaps.any():
        raise DataError(f"{numbers.columns[gaps][0]} is not a number in some row. Mend it, or leave the row out.")
    goal, looks = standing(known["score"], known["language"]), numbers.columns.drop("score")
    taus = [[float(kendall_b(own[name], own["score"])) for name in single] for _, own in known.groupby("language")]
    best = pd.DataFrame(taus, columns=list(single)).mean().idxmax()  # of equal ones the first
    table = asked[["language", "score", *single]]
    for name, make in models.items():
        model = make(seed).fit(known[looks].to_numpy(float), goal)
        table = table.assign(**{name: model.predict(asked[looks].to_numpy(float)).round(_DIGITS)})
    return table.assign(**{BEST: table[best]})


def features(table: pd.DataFrame) -> pd.DataFrame:
    """Describe each translation by how it relates to its source and its reference.

    table: columns source, hypothesis, reference (strings; English source). Returns one row per row, the same index, the
    columns of ``_described``, all finite: where a source has no number or no name, all of them count as kept.
    What was computed once is remembered (``lexical.remembered``).
    Raises DataError for a missing column or an absent text; an empty text is one.
    Caveat: numbers spelt as words count as lost, and names are found by sound (``skeleton``), with the errors of that.

    >>> one = {"source": "It cost 30 rupees in Pune.", "hypothesis": "पुणे में ३० रुपये", "reference": "पुणे में ३० रुपये।"}
    >>> features(pd.DataFrame([one]))[["numbers_kept", "names_kept", "word_recall", "end_kept"]].iloc[0].tolist()
    [1.0, 1.0, 1.0, 0.0]
    """
    rows, names = texts(table, TEXTS), list(_described("", "", ""))
    numbers = remembered(_signature(), rows, lambda some: [[*_described(*row).values()] for row in some])
    return pd.DataFrame(numbers.reshape(len(rows), len(names)), table.index, names)


@cache
def _signature() -> str:
    """Tell all that the features depend on besides the texts: the code that makes them, and what it calls."""
    code = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    return f"features|code:{code[:16]}|rapidfuzz:{rapidfuzz.__version__}|unicode:{unicodedata.unidata_version}"


def with_metrics(scored: pd.DataFrame, metrics: Sequence[str]) -> pd.DataFrame:
    """Join examples and their features with metrics that were computed before, all turned so that higher is better.

    scored: language, score, source, hypothesis, reference, and a column per metric, as ``lexical.scores`` adds them.

    >>> one = {"language": "hi", "score": 0.0, "source": "It rains.", "hypothesis": "बारिश", "reference": "बारिश है।"}
    >>> with_metrics(pd.DataFrame([one | {"TER": 50.0}]), ["TER"])["TER"].tolist()
    [-50.0]
    """
    turned = {name: -scored[name] if name in LOWER_IS_BETTER else scored[name] for name in metrics}
    return scored[["language", "source", "score"]].join(features(scored).assign(**turned))


def numbers(text: str) -> Counter[str]:
    """Count the numbers of a text by their digits, whatever script and separators they are written with.

    >>> sorted(numbers("१,२०,००० और 3.5"))
    ['120000', '35']
    """
    return Counter(
        "".join(str(unicodedata.decimal(c)) for c in found if c.isdecimal()) for found in _NUMBER.findall(text)
    )


def overlap(one: Counter[str], other: Counter[str]) -> tuple[float, float]:
    """Return which share of each of two collections the other has too; 1 for an empty one.

    >>> overlap(Counter("aab"), Counter("abcc"))
    (0.6666666666666666, 0.5)
    """
    both = (one & other).total()
    first, second = (both / total if total else 1.0 for total in (one.total(), other.total()))
    return first, second


@lru_cache(maxsize=1 << 12)
def _grams(text: str, n: int) -> Counter[str]:
    solid = "".join(text.split())
    return Counter([solid[i : i + n] for i in range(len(solid) - n + 1)])


@lru_cache(maxsize=1 << 12)
def _scripts(text: str) -> Counter[int]:
    """Count the letters of each script, told apart as blocks of 128; all below Devanagari is one."""
    return Counter([max(ord(letter) >> 7, (0x0900 >> 7) - 1) for letter in text if letter.isalpha()])


def _described(source: str, hypothesis: str, reference: str) -> dict[str, float]:
    """Describe one translation. Lengths in characters, as logarithms; overlaps as shares of n-grams or words."""
    said, meant, given = words(hypothesis), words(reference), words(source)
    shares = {f"char{n}": overlap(_grams(hypothesis, n), _grams(reference, n)) for n in (2, 4)}
    shares["word"] = overlap(Counter(said), Counter(meant))
    letters, home = _scripts(hypothesis), _scripts(reference).most_common(1)
    wanted = names(source)
    heard = sum(sounds_like(name, said) for name in wanted)
    to_source, to_reference = (float(np.log((len(hypothesis) + 1) / (len(text) + 1))) for text in (source, reference))
    return {
        "source_length": float(np.log1p(len(source))),  # long sentences have more room for errors
        "length_to_source": to_source,
        "length_to_reference": to_reference,
        "length_apart": abs(to_reference),
        # pairs of letters, fours of letters, and words: the share that the reference has, too, and of its that are here
        **{f"{of}_{way}": share for of, both in shares.items() for way, share in zip(("precision", "recall"), both)},
        "edits": fuzz.ratio(hypothesis, reference) / 100,  # letters in order
        "edits_sorted": fuzz.token_sort_ratio(hypothesis, reference) / 100,  # the same with words sorted
        # consonants, words sorted: spelling variants count little
        "sound": fuzz.token_sort_ratio(*(" ".join(map(skeleton, text)) for text in (said, meant))) / 100,
        "script": letters[home[0][0]] / letters.total() if home and letters else 0.0,  # letters in the reference's
        "source_copied": overlap(Counter(map(str.casefold, said)), Counter(map(str.casefold, given)))[0],
        "numbers_kept": min(overlap(numbers(source), numbers(hypothesis))),  # none lost and none added
        "names_kept": heard / len(wanted) if wanted else 1.0,
        "end_kept": float(hypothesis.strip()[-1:] == reference.strip()[-1:]),  # the same final mark
        "repeated_words": (len(said) - len(set(said))) - (len(meant) - len(set(meant))),  # loops
    }


@lru_cache(maxsize=1 << 17)
def skeleton(word: str) -> str:
    """Return the consonants of a word as classes of sounds, repeats once; the same for a name in any of the scripts.

    >>> skeleton("Mumbai"), skeleton("मुंबई"), skeleton("മുംബൈ"), skeleton("மும்பை")
    ('np', 'np', 'np', 'np')
    >>> skeleton("Ishikawa"), skeleton("ઇશિકાવા")
    ('skp', 'skp')
    """
    plain = _SOFT.sub("s", unicodedata.normalize("NFKD", word).casefold())
    sounds = "".join(
        _INDIC.get(ord(letter) & 0x7F, "") if _FIRST <= ord(letter) <= _LAST else _LATIN.get(letter, "")
        for letter in plain
    )
    return "".join(sound for sound, _ in itertools.groupby(sounds.replace(" ", "")))


def words(text: str) -> list[str]:
    """Split a text at spaces and strip punctuation, the danda included.

    >>> words("“नमस्ते, दुनिया।”")
    ['नमस्ते', 'दुनिया']
    """
    return [word for word in (part.strip(_EDGES) for part in text.split()) if word]


def names(source: str) -> list[str]:
    """List the words of an English text that look like names: capitals, and not because a sentence begins.

    Caveat: a name that begins a sentence is missed, an adjective such as "French" is taken for a name.

    >>> names("The Noto Airport in Ishikawa remains closed. Japan’s government says so.")
    ['Noto', 'Airport', 'Ishikawa']
    """
    found, begins = [], True
    for part in source.split():
        word = re.sub(r"['’]s$", "", part.strip(_EDGES))
        if not begins and word[:1].isupper() and len(word) > 2 and len(skeleton(word)) > 1:
            found.append(word)
        begins = bool(_ENDS.search(part))
    return found


def sounds_like(name: str, text: list[str]) -> bool:
    """Say whether a word begins as a name sounds: three quarters of its consonants or more are alike, in order.

    text: the words to look through; endings that a language appends to a name do not count against it.

    >>> sounds_like("Ishikawa", words("અને ઇશિકાવામાં એરપોર્ટ")), sounds_like("Tokyo", words("અને ઇશિકાવામાં"))
    (True, False)
    """
    wanted = skeleton(name)
    return any(fuzz.ratio(wanted, skeleton(word)[: len(wanted)]) >= _HEARD for word in text)
