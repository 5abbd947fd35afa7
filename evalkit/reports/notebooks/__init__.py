"""Notebook files: the parameters that they declare, their canonical form, their copies for students.

Everything here reads the ``.ipynb`` file as JSON and its code with ``ast``: no kernel starts, nothing is executed.
"""

from evalkit.reports.notebooks.declared import Parameter, bind, checks, declarations, parameters, suggestion
from evalkit.reports.notebooks.files import METADATA, read, source, tags, tidy, unwarned, write_text
from evalkit.reports.notebooks.students import student

__all__ = [
    "METADATA",
    "Parameter",
    "bind",
    "checks",
    "declarations",
    "parameters",
    "read",
    "source",
    "student",
    "suggestion",
    "tags",
    "tidy",
    "unwarned",
    "write_text",
]
