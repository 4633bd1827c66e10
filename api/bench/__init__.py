"""Measure suites of expressions in every library: `weft bench`.

A `Row` (`row.py`) is one expression; `suites/` holds the rows. A `Library` (`library.py`, `peers.py`) turns a row into
calls. `measure.py` checks every result against NumPy and times the right ones; `results.py` keeps the times, and
`table.py`, `markdown.py` and `plot.py` show them.
"""
