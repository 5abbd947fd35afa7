"""Each formula once, on arrays and tables.

``correlation`` and ``weighted`` correlate samples and their resamples; ``inference`` resamples, permutes and adjusts;
``agreement`` has coefficients, intraclass correlations and models of labels; ``verdicts`` judges a number against
print, and ``terms`` says names of the code in the field's words.
"""
