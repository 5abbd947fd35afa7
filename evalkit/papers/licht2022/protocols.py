"""Protocols of human evaluation compared: as descriptions, through their printed kappas, and by what they can detect.

``described`` and ``rubric`` say what annotators see.
"""

import pandas as pd

from evalkit.data import published

#: The five protocols of Licht et al. 2022, section 5.1. What is judged is what annotators compare with each other.
PROTOCOLS = (
    ("RAW", "source and translation", "5-point quality scale", "none", "X-EN, EN-X", "translations"),
    (
        "XSTS",
        "source and translation, neither named",
        "XSTS rubric, 4 and 5 collapsed",
        "none",
        "X-EN, EN-X",
        "translations",
    ),
    (
        "MSTS",
        "translation and a second human reference, both English",
        "XSTS rubric",
        "one, in English (HT1)",
        "X-EN",
        "translations",
    ),
    (
        "BT+MSTS",
        "back-translation and reference, both English",
        "XSTS rubric",
        "one, in English",
        "EN-X",
        "people's back-translations",
    ),
    (
        "PE",
        "source and translation, which they correct",
        "number of critical errors; edits",
        "none",
        "X-EN, EN-X",
        "translations",
    ),
)
#: The translations in the order that section 6.1 expects of any meaningful protocol.
PROGRESSION = ("HT0", "MT1", "MT2")


def described() -> pd.DataFrame:
    """Describe the five protocols: protocol, annotators_see, scale, reference_needed, directions, judged.

    >>> described().set_index("protocol").loc["MSTS", "directions"]
    'X-EN'
    """
    columns = ["protocol", "annotators_see", "scale", "reference_needed", "directions", "judged"]
    return pd.DataFrame(PROTOCOLS, columns=columns)


def rubric() -> pd.DataFrame:
    """Return the XSTS rubric with all its examples (Licht et al. 2022, Figure 1), a row per example.

    >>> rubric().groupby("score").size().tolist()
    [2, 4, 4, 2, 2]
    """
    return published("licht2022_figure1")
