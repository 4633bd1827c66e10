"""Run `weft cache info` and `weft cache clear`: show what the cache on disk holds, or delete it."""

from __future__ import annotations

import argparse
import os

from ..ir.errors import FileProblem, quantity
from ..ir.support.files import PART
from ..runtime.disk.cache import cache_folder, cache_limit
from ..runtime.disk.secret import configuration
from ..runtime.disk.store import ENDING, Store, Unusable

EPILOG = """\
WEFT_CACHE_DIR sets the directory (default: the user's cache directory), WEFT_CACHE_LIMIT sets its size in bytes, and
WEFT_CACHE=0 switches the cache off.
"""


def add_cache(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("what", choices=("info", "clear"), metavar="info|clear", help="show or delete the entries")


def cache(args: argparse.Namespace) -> None:
    """Show or clear the cache."""
    store = Store(cache_folder(), configuration(), cache_limit())
    try:
        if args.what == "clear":
            print(f"{quantity(store.clear(), 'entry', 'entries')} deleted from {store.folder}")
            return
        entries, files = store.entries(), store.entries((ENDING, PART))
    except Unusable as error:
        raise FileProblem(f"the cache can't be used: {error}", hint="set WEFT_CACHE_DIR to another folder") from error
    off = os.environ.get("WEFT_CACHE", "").strip() == "0"
    rows = {
        "directory": store.folder,
        "state": "off (WEFT_CACHE=0)" if off else "on",
        "entries": str(len(entries)),
        "size": f"{sum(size for _, size in files) / 1e6:.1f} MB of {store.limit / 1e6:.1f} MB",
    }
    for name, value in rows.items():
        print(f"{name:<9} {value}")
