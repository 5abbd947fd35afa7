"""Each formula once: agreement, resampling and tests, on arrays and tables."""
