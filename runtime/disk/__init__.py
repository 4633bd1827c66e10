"""Compiled kernels on disk, so that a new process need not compile what another has compiled."""
