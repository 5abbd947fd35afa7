"""Scores made comparable across languages by a calibration set that all annotators rate.

forms: how a score is moved · ratings: from judgements to calibrated scores · calibration_set: which items to
choose · held_out: does a shift carry over? · licht2022: the paper's Table 5 from the inside · external: scores held
against an automatic score (its Table 6) · comparison: printed beside computed.
"""
