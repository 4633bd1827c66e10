"""The kernels of the library as NumPy functions: what they must agree with.

`weft.kernels.NAME.reference` is the function NAME of the module that is called as the kernel's file is.
"""
