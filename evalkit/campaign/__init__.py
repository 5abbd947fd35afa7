"""One report for one file of a campaign: every analysis of this package that the file allows, and what it lacks.

``opened`` opens a file or an example, ``analysed`` makes all sections. A section (``Section``) holds sentences, tables
that are never empty, and what to collect where something is missing; nothing here fails for want of a column.
``export`` writes a report's tables and its methods paragraph to files.
"""

from evalkit.campaign.answers import RULES, analysed
from evalkit.campaign.exports import export
from evalkit.campaign.methods import methods
from evalkit.campaign.opened import Campaign, of, opened
from evalkit.campaign.printed import printed
from evalkit.campaign.sections import Section, Table

__all__ = ["RULES", "Campaign", "Section", "Table", "analysed", "export", "methods", "of", "opened", "printed"]
