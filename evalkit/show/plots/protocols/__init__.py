"""Figures of the comparison of protocols, a module per question."""
