"""This user's own secret: what pseudonyms are made with, and by which the cache's kept tables and scores are known.

It lies outside the cache, in ``~/.config/evalkit/salt``; ``EVALKIT_SALT_FILE`` moves it. Limit: a seal tells what was
put into the cache by somebody, or some program, that may write there and cannot read this file: another member of a
group, a shared disk, an unpacked archive. Who works with this user's own rights can read the secret, and could as well
change the code. Each user has another secret, so that users who share a cache parse and score each for themselves.
"""

import hashlib
import hmac
import os
import secrets
import sys
from functools import cache
from pathlib import Path

from evalkit import DataError

_PURPOSE = b"evalkit: seal of what is kept in the cache"  # so that a seal says nothing of pseudonyms
_LONGEST = 1 << 16  # characters of a salt


def place() -> Path:
    """Name the file that keeps this user's secret; ``EVALKIT_SALT_FILE`` moves it."""
    own = os.environ.get("EVALKIT_SALT_FILE")
    home = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(own) if own else Path(home) / "evalkit" / "salt"


def seal(*parts: str | bytes) -> str | None:
    """Return 32 hexadecimal digits that only this user can make of these parts; None where no secret can be kept.

    Source: HMAC-SHA256 (RFC 2104), cut to 128 bits; each part is hashed behind its length.
    """
    key = _key(place())
    if key is None:
        return None
    made = hmac.new(key, digestmod=hashlib.sha256)
    for part in parts:
        content = part.encode() if isinstance(part, str) else part
        made.update(len(content).to_bytes(8))
        made.update(content)
    return made.hexdigest()[:32]


@cache
def _key(path: Path) -> bytes | None:
    """Make the key of seals, once a process; say it where there can be none."""
    del path  # by which the key is remembered
    try:
        return hmac.digest(own(), _PURPOSE, "sha256")
    except DataError as problem:
        print(f"evalkit: {problem} Until then nothing is kept that was computed before.", file=sys.stderr)
        return None


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
            f"The secret for pseudonyms and seals cannot be kept in {path}: {problem.strerror}. Set EVALKIT_SALT_FILE "
            "to a file that you can write (for pseudonyms, --salt does, too)."
        ) from problem
    if len(found) > _LONGEST:
        raise DataError(f"{path} has more than {_LONGEST} characters, so it is no salt. Set EVALKIT_SALT_FILE to one.")
    if len(found := found.strip()) < 16:
        raise DataError(f"{path} holds no salt of 16 characters or more. Restore it, or remove it and import anew.")
    return found.encode()
