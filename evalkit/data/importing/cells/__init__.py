"""Cells and headings: what a column is, and what its texts say as numbers, times, words and scales."""
