"""Automatic metrics computed from texts, how they fare against human scores, and metrics learned from these.

``lexical`` computes metrics of words and characters; ``store`` keeps their scores. ``alignment`` finds and mends
references that slipped against their sources. ``correlation`` correlates with human scores, ``spread`` shows how
metrics use their scale. ``learned`` trains small metrics on ``features`` and ``clustered`` judges them across
languages. ``metaeval`` holds any metric against human scores, and ``powered`` estimates means from few human scores and
many of a metric.
"""
