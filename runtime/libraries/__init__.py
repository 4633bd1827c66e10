"""Call kernels in shared libraries: decide which files may be loaded, check their exports and call them."""
