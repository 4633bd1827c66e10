"""Compile, cache and run graphs: signatures, dispatch, memory, threads and the registry of implementations."""
