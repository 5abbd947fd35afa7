"""``python -m evalkit.reports.cli``, where the script ``evalkit`` is not on the path."""

from evalkit.reports.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
