"""Build kernels into a library with a plain C interface that needs neither Python nor Weft."""
