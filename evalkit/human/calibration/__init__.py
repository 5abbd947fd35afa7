"""Scores made comparable across languages by a calibration set that all annotators rate.

forms: how a score is moved · ratings: from judgements to calibrated scores · calibration_set: which items to
choose · held_out: does a shift carry over?
"""
