"""Design a campaign: who judges what, for Pearmut or in tables, with every item's role kept for the way back."""

from evalkit.campaign.design.drawing import PROTOCOLS, Drawn, Protocol, Wish, draw, get_protocol
from evalkit.campaign.design.texts import Texts, read_texts
from evalkit.campaign.design.writing import make, write

__all__ = ["PROTOCOLS", "Drawn", "Protocol", "Texts", "Wish", "draw", "get_protocol", "make", "read_texts", "write"]
