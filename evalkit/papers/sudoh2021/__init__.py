"""Sudoh et al. 2021: critical translation errors, their labels, their reduction to one, and their classification.

``labels`` says what labels there are, how often each is given, which assessments go with it and how far annotators
agree; ``printed`` what the paper prints. The neural classifier is ``encoder``, which runs in an environment of its own.
"""
