"""``python -m evalkit.cli``, where the script ``evalkit`` is not on the path."""

from evalkit.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
