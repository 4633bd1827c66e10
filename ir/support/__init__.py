"""Serve the whole project: files, locks, forks, signals and the collector. Nothing here knows a graph."""
