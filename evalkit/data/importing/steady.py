"""Notice that a file changed while it was imported: rows of both, under the digest of the old, are no result."""

from dataclasses import dataclass
from pathlib import Path

from evalkit import DataError
from evalkit.data.files import stamp
from evalkit.data.registry import digest


@dataclass(frozen=True)
class Seen:
    """What was known of a file before it was read: a stamp of the file system, then the digest of its content."""

    path: Path
    stamp: tuple[int, ...]
    digest: str

    @classmethod
    def at(cls, path: Path) -> "Seen":
        """Look at a file."""
        before = stamp(path)
        return cls(path, before, digest(path))

    def hold(self) -> None:
        """Raise DataError where the file is another one by now, or was one meanwhile.

        The digest notices every change that stays; one that was taken back is noticed by the stamp, unless it came
        within some milliseconds of the look before it.
        """
        try:
            same = (stamp(self.path), digest(self.path)) == (self.stamp, self.digest)
        except OSError:
            same = False
        if not same:
            raise DataError(
                f"{self.path.name} changed while it was read, and nothing was imported. Import it again when nothing "
                "writes to it any more."
            )
