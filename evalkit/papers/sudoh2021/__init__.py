"""Sudoh et al. 2021: critical translation errors, their labels, their reduction to one, and their classification.

``taxonomy`` says what labels there are, ``labels`` how often each is given and which assessments go with it,
``comparison`` what the paper prints. The neural classifier is ``neural``, which runs in an environment of its own.
"""
