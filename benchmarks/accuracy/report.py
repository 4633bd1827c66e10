"""Write docs/accuracy.md from measurements."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import weft

from .formats import FORMATS, Format
from .functions import Function
from .measure import SAMPLED
from .store import Record

BOUND, COMPLEX_BOUND = 1.0, 2.0
Row = tuple[Function, Format, Record | None]

HEAD = """# Accuracy

Written by `make accuracy`; do not edit. Each row compares the results of Weft, and of NumPy for the same arguments,
with the true values. Weft promises at most {bound} ULP everywhere, and {complex_bound} ULP normwise for complex
functions.

- **Error**: the largest distance from the true value, in units in the last place (ULP) of the true value, and the
  argument where it occurs. Infinity counts as the number after the largest. A wrong NaN or the wrong sign of a zero
  is an infinite error. For complex functions it is the distance in the complex plane, in ULP of the true value's
  magnitude.
- **Nearest**: the share of results that are the number nearest to the true value (0.5 ULP or less); 100 % is correct
  rounding.
- **Points**: functions of one `f32`, `f16` or `bf16` are measured at every number. The others are measured at random
  points of every exponent and of the function's main range, and at hard cases: both sides of every threshold in the
  function's code and of every power of two, the numbers nearest to multiples of π/2 for each exponent, subnormals,
  the limits of overflow and underflow, and all pairs of special values. Two kinds of points are left out: those where
  the sum in `logaddexp` and `logaddexp2` cancels by more than half, and complex powers that overflow or whose angle
  has more than a million turns.
- **Reference**: double precision for `f32`, `c64` and 16-bit floats, long double for `f64` and `c128`. Where its own
  error could matter (near one half, and near the largest error), quad precision decides. In addition, one point in
  {sampled} is checked in quad precision: the quick reference was never off by more than {reference32:.1g} ULP of
  `f32` and {reference64:.1g} ULP of `f64`. Quad precision itself is compared with mpmath at some points of every row.

{summary}

| function | dtype | points | bound | Weft: error | at | nearest | NumPy: error | at | nearest |
| --- | --- | ---: | ---: | ---: | --- | ---: | ---: | --- | ---: |
"""

FOOT = """
In every measured row of real numbers, the special values (zeros, infinities, NaN, the smallest and largest numbers,
small integers; for functions of two arguments all pairs of them) were compared with NumPy's results, signs of zeros
included: {specials}.

Measured with `make accuracy` on {machine}, Python {python}, NumPy {numpy}, Weft {weft}.
"""


def bound(format: Format) -> float:
    """Return the promised error bound in ULP."""
    return COMPLEX_BOUND if format.is_complex else BOUND


def is_within(record: Record) -> bool:
    return bool(record["weft"]["error"] <= bound(FORMATS[record["dtype"]]) and not record["specials"])


def table(rows: Sequence[Row]) -> str:
    return "\n".join(_line(*row) for row in rows)


def render(rows: Sequence[Row]) -> str:
    """Return the whole page."""
    records = [record for _, _, record in rows if record]
    wrong = [f"{r['function']} {r['dtype']} {text}" for r in records for text in r["specials"]]
    head = HEAD.format(
        bound=BOUND,
        complex_bound=COMPLEX_BOUND,
        sampled=f"{SAMPLED:,}",
        summary=_summary(rows, records),
        reference32=max((r["reference"] for r in records if r["dtype"] not in ("f64", "c128")), default=0.0),
        reference64=max((r["reference"] for r in records if r["dtype"] in ("f64", "c128")), default=0.0),
    )
    foot = FOOT.format(
        specials="; ".join(wrong) if wrong else "no difference",
        machine=processor(),
        python=platform.python_version(),
        numpy=np.__version__,
        weft=weft.__version__,
    )
    return head + table(rows) + "\n" + foot


def _summary(rows: Sequence[Row], records: Sequence[Record]) -> str:
    if not records:
        return "Nothing is measured yet."
    top = max(records, key=lambda record: record["weft"]["error"])
    over = [f"`{r['function']}` {r['dtype']}" for r in records if not is_within(r)]
    lines = [
        f"{len(records)} of {len(rows)} functions and dtypes are measured. Weft's largest error is "
        f"{top['weft']['error']:.3f} ULP (`{top['function']}` {top['dtype']}); {len(over)} exceed their bound"
        + (f": {', '.join(over)}." if over else ".")
    ]
    if len(records) < len(rows):
        lines.append(f"The other {len(rows) - len(records)} have not been measured since their code last changed.")
    return "\n".join(lines)


def _line(function: Function, format: Format, record: Record | None) -> str:
    cells = [f"`{function.name}`", format.name]
    if record is None:
        return f"| {' | '.join([*cells, 'not measured', f'{bound(format)}', *['—'] * 6])} |"
    points = f"all 2^{8 * format.dtype.itemsize}" if record["every"] else f"{record['points']:,}"
    cells += [points, f"{bound(format)}"]
    for subject in ("weft", "numpy"):
        found = record.get(subject)
        cells += _cells(found, format) if found else ["—"] * 3
    return f"| {' | '.join(cells)} |"


def _cells(found: Record, format: Format) -> list[str]:
    error = found["error"]
    text = f"{error:.3f}" if error < 1000 else f"{error:.2g}"
    share = "—" if format.is_complex else f"{_share(found['nearest'])} %"
    return [text, ", ".join(found["at"]), share]


def _share(share: float) -> str:
    """Format a percentage; it says 100 only if every result is the nearest number."""
    rounded = f"{100 * share:.2f}"
    return "100" if share == 1 else "99.99+" if rounded == "100.00" else rounded


def processor() -> str:
    """Return the processor's name, if the system tells it."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    named = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), None)
    return named or platform.processor() or platform.machine()
