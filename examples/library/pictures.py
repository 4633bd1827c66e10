"""Write an array of colours as a PNG file, compressed by the standard library's zlib."""

from __future__ import annotations

import struct
import sys
import tempfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
SIGNATURE = b"\x89PNG\r\n\x1a\n"
EIGHT_BITS, RGB = 8, 2


def write_png(path: Path, colours: Array) -> None:
    """Write `colours`, u8[height, width, 3], as a picture."""
    height, width, _ = colours.shape
    lines = np.zeros((height, 1 + 3 * width), np.uint8)  # each line begins with the number of its filter, 0 is none
    lines[:, 1:] = colours.reshape(height, 3 * width)
    header = struct.pack(">IIBBBBB", width, height, EIGHT_BITS, RGB, 0, 0, 0)
    body = zlib.compress(lines.tobytes(), 9)
    path.write_bytes(SIGNATURE + _chunk(b"IHDR", header) + _chunk(b"IDAT", body) + _chunk(b"IEND", b""))


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def shaded(values: Array) -> Array:
    """Map numbers from 0 to 1 to colours from black over blue and orange to white."""
    stops = np.array([[0, 0, 0], [0, 20, 100], [40, 110, 200], [240, 250, 255], [255, 170, 0], [90, 30, 0]], float)
    at = np.clip(values, 0, 1) * (len(stops) - 1)
    channels = [np.interp(at, np.arange(len(stops)), stops[:, c]) for c in range(3)]
    return np.stack(channels, axis=-1).astype(np.uint8)


def target(name: str) -> Path:
    """Return the path for a script's picture: in the folder on its command line, or in a temporary one."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.mkdtemp(prefix="weft-pictures-"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder / name
