"""`python -m weft` is the `weft` command."""

from __future__ import annotations

from .command.main import main

if __name__ == "__main__":
    raise SystemExit(main())
