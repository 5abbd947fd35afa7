"""Slides of a lesson: one page without scripts that opens offline, a slide a heading, made by nbconvert."""

from evalkit.reports.slides.making import lessons, make

__all__ = ["lessons", "make"]
