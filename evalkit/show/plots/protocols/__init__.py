"""Figures of protocols beside each other."""
