"""Define the library's kernels as NumPy functions, which they must agree with.

`weft.kernels.NAME.reference` is the function NAME in the module named after the kernel's file.
"""
