"""What papers and clients ask for: the methods with references, and the human evaluation datasheet.

files writes both out for an export; protocol, collected, heds and references are what they are written from.
"""

from evalkit.campaign.paperwork.datasheet import Datasheet, datasheet
from evalkit.campaign.paperwork.files import files
from evalkit.campaign.paperwork.methods import Methods, methods

__all__ = ["Datasheet", "Methods", "datasheet", "files", "methods"]
