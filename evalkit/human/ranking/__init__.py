"""Scores, significance clusters and uncertainty of rankings of systems, as WMT computes them and beyond.

All functions take ratings tables (see ``evalkit.data.schemas``) and work within each language pair; ``score`` names the
column that is ranked: raw scores, z-scores, or what ``evalkit.human.normalization`` made of them. Higher is better.
"""
