"""Sai et al. 2023: their tables audited, their error spans and metrics compared with print."""
