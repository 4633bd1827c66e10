"""Define the suites, and list them by name in the order in which they run."""

from __future__ import annotations

from ..row import Row
from . import calls, elementwise, kernel_rows, layouts, mathematics, mixed, products, reductions, rowwise

ROWS: dict[str, tuple[Row, ...]] = {
    "calls": calls.ROWS,
    "elementwise": elementwise.ROWS,
    "math": mathematics.ROWS,
    "reductions": reductions.ROWS,
    "rows": rowwise.ROWS,
    "mixed": mixed.ROWS,
    "layouts": layouts.ROWS,
    "products": products.ROWS,
    "library": kernel_rows.ROWS,
}
SUITES = (*ROWS, "compile", "startup")
