"""This user's own secret, with which pseudonyms are made.

It lies outside the cache, in ``~/.config/evalkit/salt``; ``EVALKIT_SALT_FILE`` moves it.
"""

import os
import secrets
from pathlib import Path

from evalkit import DataError

_LONGEST = 1 << 16  # characters of a salt


def place() -> Path:
    """Name the file that keeps this user's secret; ``EVALKIT_SALT_FILE`` moves it."""
    own = os.environ.get("EVALKIT_SALT_FILE")
    home = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(own) if own else Path(home) / "evalkit" / "salt"


def own() -> bytes:
    """Read this user's secret; the first time, draw one and keep it where only the owner reads it."""
    path = place()
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        new = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
        if not path.exists():
            with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
                stream.write(secrets.token_hex(32) + "\n")
                stream.flush()
                os.fsync(stream.fileno())
            try:
                os.link(new, path)  # fails where another process was first, whose salt then counts
            except FileExistsError:
                pass
            finally:
                new.unlink()
        if not path.is_file():  # a device or a pipe could be read for ever
            raise DataError(f"{path} is no file, so it cannot keep your secret. Set EVALKIT_SALT_FILE to another one.")
        with path.open(encoding="ascii", errors="replace") as stream:
            found = stream.read(_LONGEST + 1)
    except OSError as problem:
        raise DataError(
            f"The secret for pseudonyms cannot be kept in {path}: {problem.strerror}. Set EVALKIT_SALT_FILE "
            "to a file that you can write (--salt does, too)."
        ) from problem
    if len(found) > _LONGEST:
        raise DataError(f"{path} has more than {_LONGEST} characters, so it is no salt. Set EVALKIT_SALT_FILE to one.")
    if len(found := found.strip()) < 16:
        raise DataError(f"{path} holds no salt of 16 characters or more. Restore it, or remove it and import anew.")
    return found.encode()
