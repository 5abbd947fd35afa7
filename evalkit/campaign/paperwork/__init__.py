"""What papers and clients ask for: the methods with references, and the human evaluation datasheet.

``files`` writes both out for an export; works that are cited stand in references.bib, questions in heds.toml.
"""

from evalkit.campaign.paperwork.datasheet import Datasheet, datasheet, files
from evalkit.campaign.paperwork.markup import works
from evalkit.campaign.paperwork.methods import Methods, methods

__all__ = ["Datasheet", "Methods", "datasheet", "files", "methods", "works"]
