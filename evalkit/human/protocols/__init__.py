"""One set of texts judged under several protocols: do people agree, rank alike, at what price, and misled by what?

``scores`` lays all collections on top of each other; the other functions take its table, or the judgements themselves
(``data.load("wmt23-protocols")``).
"""

from evalkit.human.protocols.agreement import KINDS, ORDER, SHORT, counts, scores

__all__ = ["KINDS", "ORDER", "SHORT", "counts", "scores"]
