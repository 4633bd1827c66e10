"""Signatures, compiled graphs and their cache, the registry, dispatch and memory."""
