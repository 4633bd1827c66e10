"""Implement the `weft` command, one module for each subcommand."""
