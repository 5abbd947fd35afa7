"""Automatic metrics computed from texts, how they fare against human scores, and metrics learned from these.

``lexical`` computes metrics of words and characters, ``vectors`` those of word vectors, ``neural`` those that need a
model; ``needs`` tells what each of these still lacks, and ``given`` fills its rows from what you give; ``store`` keeps
scores.
``alignment`` finds and mends references that slipped against their sources. ``correlation`` correlates with human
scores, ``spread`` shows how metrics use their scale, ``subsets`` looks at segments with one family of errors, and
``printed`` holds all this against the paper. ``learned`` trains small metrics on ``features`` and ``clustered`` judges
them across languages; ``challenge`` tests metrics on perturbed translations, ``comet`` trains a neural one.
"""
