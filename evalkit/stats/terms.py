"""What people call what the code names: the field's words for statistics, in tables, figures and sentences."""

from collections.abc import Iterable

#: Names of statistics, methods and settings, as they stand in columns and cells.
TERMS = {
    "percent_agreement": "percent agreement",
    "fleiss_kappa": "Fleiss' κ",
    "cohen_kappa": "Cohen's κ",
    "conger_kappa": "Conger's κ",
    "randolph_kappa": "Randolph's κ",
    "gwet_ac1": "Gwet's AC1",
    "gwet_ac2": "Gwet's AC2",
    "krippendorff_alpha": "Krippendorff's α",
    "pearson": "Pearson's r",
    "spearman": "Spearman's ρ",
    "kendall_b": "Kendall's τ-b",
    "kendall_b_within": "τ-b within segments",
    "kendall_c": "Kendall's τ-c",
    "kappa": "κ",
    "alpha": "α",
    "tau": "τ",
    "tau_b": "τ-b",
    "rho": "ρ",
    "r2": "R²",
    "linreg": "LinReg",
    "acc_eq": "accuracy with ties (acc_eq)",
    "accuracy_3way": "three-way accuracy",
    "spa": "soft pairwise accuracy",
    "system_pearson": "systems' Pearson's r",
    "system_kendall_b": "systems' τ-b",
    "unique_scores": "different scores",
    "at_ends": "scores at the ends",
    "on_marks": "scores on marks",
    "median_abs_diff": "median distance of repeats",
    "with_others": "agreement with others",
    "qc_p": "p of the quality control",
    "normal_scores": "normal scores",
    "z_calibration": "z from the calibration HIT",
    "hit_seconds": "time of the HIT",
    "cv": "cross-validation",
    "zero_shot": "zero shot",
    "best_single": "best single metric",
}
#: Parts of names that are written otherwise than in lower case.
_PARTS = {
    "hit": "HIT",
    "hits": "HITs",
    "cs": "CS",
    "ht": "HT",
    "mt": "MT",
    "qc": "QC",
    "mqm": "MQM",
    "esa": "ESA",
    "xsts": "XSTS",
    "bleu": "BLEU",
    "chrf": "chrF",
    "ter": "TER",
    "bleurt": "BLEURT",
    "bertscore": "BERTScore",
    "darr": "DARR",
    "f1": "F1",
    "ece": "ECE",
    "id": "ID",
    "se": "standard error",
    "holm": "Holm",
    "wilcoxon": "Wilcoxon",
}
#: Columns whose cells are such names; what stands elsewhere may be a system or a language, which is nobody's to rename.
NAMING = {
    "coefficient",
    "statistic",
    "statistic_a",
    "statistic_b",
    "method",
    "rule",
    "use",
    "setting",
    "model",
    "seconds_from",
}


def display_name(name: str) -> str:
    """Say a name of the code in words: terms of the field as it writes them, blanks for underscores.

    >>> display_name("kendall_b"), display_name("higher_hit_mean"), display_name("tgt_lang")
    ("Kendall's τ-b", 'higher HIT mean', 'tgt lang')
    """
    words, parts = [], name.split("_")
    while parts:
        size = next((size for size in range(len(parts), 0, -1) if "_".join(parts[:size]) in TERMS), 0)
        words.append(TERMS["_".join(parts[:size])] if size else _PARTS.get(parts[0], parts[0]))
        parts = parts[max(size, 1) :]
    return " ".join(words)


def display_cell(column: str, value: object) -> object:
    """Say what a cell holds in words, where its column holds names of the code.

    >>> display_cell("statistic", "pearson"), display_cell("system", "pearson"), display_cell("statistic", 3)
    ("Pearson's r", 'pearson', 3)
    """
    return TERMS.get(value, value) if column in NAMING and isinstance(value, str) else value


def join_names(names: Iterable[object]) -> str:
    """Name things in a sentence: all of a few, else the first four and how many others.

    >>> join_names(["A", "B", "C"]), join_names("ABCDEFG"), join_names(["A"])
    ('A, B and C', 'A, B, C, D and 3 others', 'A')
    """
    texts = [str(name) for name in names]
    if len(texts) > 5:
        return f"{', '.join(texts[:4])} and {len(texts) - 4} others"
    return " and ".join([", ".join(texts[:-1]), texts[-1]]) if len(texts) > 1 else "".join(texts)


def pluralize(number: int, one: str) -> str:
    """Count things in a sentence, whose plural ends in an s.

    >>> pluralize(1, "system"), pluralize(1200, "system"), pluralize(0, "system")
    ('1 system', '1,200 systems', '0 systems')
    """
    return f"{number:,} {one if number == 1 else one + 's'}"
