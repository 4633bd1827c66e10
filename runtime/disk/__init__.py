"""Store compiled kernels on disk, so that a new process can load them instead of compiling."""
