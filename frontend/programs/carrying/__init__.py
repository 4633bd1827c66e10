"""Carry variables from step to step of a loop, and merge those of two branches."""
