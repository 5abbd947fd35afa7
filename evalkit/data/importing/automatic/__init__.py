"""Automatic scores of the outputs that people judged: read, matched with people's items, kept apart."""
