"""Automatic metrics computed from texts, how they fare against human scores, and metrics learned from these.

``lexical`` computes metrics of words and characters, and keeps their scores. ``alignment`` finds and mends references
that slipped against their sources. ``correlation`` correlates with human scores by language, ``learned`` trains small
metrics on cheap features. ``scores`` matches any metric with human scores cell by cell; ``statistics`` has
correlations, acc_eq and SPA with their intervals, ``significance`` tests differences, ``bounds`` says what people and
metrics that know nothing come to, and whether a judge's scores mean what people's do. ``rankings`` ranks metrics, also
by WMT's own lists, and a metric of one's own; ``darr`` has relative rankings and the variants of Kendall's tau on them.
``ppi`` estimates means from few human scores and many of a metric, and compares ways to choose what people judge.
"""
