"""Automatic metrics held against human scores.

``scores`` matches them cell by cell; ``statistics`` has correlations, acc_eq and SPA, ``intervals`` and
``significance`` say how sure these are, ``bounds`` what people and metrics that know nothing come to. ``rankings``
ranks metrics, ``tasks`` by WMT's own lists, ``yours`` a metric of one's own. ``darr`` has relative rankings and the
variants of Kendall's tau on them, ``calibration`` asks whether a judge's scores mean what people's do.
"""
