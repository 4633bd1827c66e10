"""Kernels in shared libraries: which files may be loaded, what they must export, and how they are called."""
