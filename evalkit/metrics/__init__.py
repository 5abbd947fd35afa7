"""Automatic metrics computed from texts, how they fare against human scores, and metrics learned from these.

``lexical`` computes metrics of words and characters, and keeps their scores. ``alignment`` finds and mends references
that slipped against their sources. ``correlation`` correlates with human scores by language, ``learned`` trains small
metrics on cheap features. ``metaeval`` holds any metric against human scores, ``ppi`` estimates means from few human
scores and many of a metric, and ``choosing`` compares ways to choose the segments that people judge.
"""
