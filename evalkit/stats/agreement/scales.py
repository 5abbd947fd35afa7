"""Say how far two categories are apart: weights of agreement, and Krippendorff's differences."""

from __future__ import annotations

import numpy as np

from evalkit import DataError

#: Weights of agreement for kappas, pi, percent agreement and AC2.
WEIGHTS = ("none", "linear", "quadratic")
#: Levels of measurement for Krippendorff's alpha.
LEVELS = ("nominal", "ordinal", "interval", "ratio")


def weights(values: np.ndarray, level: str) -> np.ndarray:
    r"""Weigh the agreement of every two categories, 1 on the diagonal.

    none: :math:`w_{kl} = [k = l]`; linear: :math:`1 - |v_k - v_l| / (v_{\max} - v_{\min})`; quadratic:
    :math:`1 - (v_k - v_l)^2 / (v_{\max} - v_{\min})^2`, with v the categories' values and the range that of all
    categories. Source: Cohen 1968; Cicchetti & Allison 1971; Gwet 2014, ch. 3.
    Caveat: distances are between values, not between positions; with gaps in the values the two differ.

    >>> weights(np.array([1.0, 2, 3]), "linear")[0].tolist()
    [1.0, 0.5, 0.0]
    """
    if level == "none" or len(values) == 1:
        return np.eye(len(values))
    share = np.abs(values[:, None] - values) / (values[-1] - values[0])
    return 1 - (share if level == "linear" else share**2)


def differences(values: np.ndarray, level: str) -> np.ndarray:
    r"""Return Krippendorff's squared difference of every two values, for the levels where only the values matter.

    nominal: :math:`[k \ne l]`; interval: :math:`(v_k - v_l)^2`; ratio: :math:`((v_k - v_l) / (v_k + v_l))^2`. The
    ordinal difference depends on how often values occur, see ``chance.krippendorff_alpha``.
    Source: Krippendorff 2011, section D.  Raises DataError for ratios of negative values.

    >>> differences(np.array([0.0, 1, 3]), "ratio").tolist()
    [[0.0, 1.0, 1.0], [1.0, 0.0, 0.25], [1.0, 0.25, 0.0]]
    """
    if level == "nominal":
        return 1 - np.eye(len(values))
    gaps = values[:, None] - values
    if level == "interval":
        return gaps**2
    if values[0] < 0:
        raise DataError(f"A ratio scale starts at 0, and a category is {values[0]:g}. Use level='interval'.")
    sums = values[:, None] + values
    return np.divide(gaps, sums, out=np.zeros_like(gaps), where=sums > 0) ** 2
