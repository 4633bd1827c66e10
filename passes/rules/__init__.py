"""Rewrite single operations: the identities, folds and conversions that passes apply."""
