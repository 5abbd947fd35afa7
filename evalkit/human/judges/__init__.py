"""Judges that are models, held against people: may one of them stand in for an annotator?"""

from evalkit.human.judges.alternative import ALIGNMENTS, AlternativeAnnotator, alternative_annotator

__all__ = ["ALIGNMENTS", "AlternativeAnnotator", "alternative_annotator"]
