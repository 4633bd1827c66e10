"""Kernels in, a library with a plain C interface out, which needs neither Python nor Weft."""
