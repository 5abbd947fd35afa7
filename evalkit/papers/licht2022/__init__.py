"""Licht et al. 2022: calibrated scores (Tables 5 and 6) and protocols (Table 3), from the inside."""
