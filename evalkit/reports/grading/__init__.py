"""A table of students by exercise, made of the notebooks that they handed in.

Students' notebooks are programs of strangers. By default nothing of them is executed: the table rests on what the
check cells recorded when the students ran them. A notebook is a text file, so such a record can be forged; what does
not fit is said beside it. ``rerun`` executes them instead, in a bounded process, for who asks for that.
"""

from evalkit.reports.grading.collecting import Graded, grade
from evalkit.reports.grading.tables import as_csv, as_text

__all__ = ["Graded", "as_csv", "as_text", "grade"]
