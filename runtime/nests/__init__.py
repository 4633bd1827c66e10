"""Compile loop nests and call them, for programs, `.weft` kernels that change elements, and texts of nests."""
