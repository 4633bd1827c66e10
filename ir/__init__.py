"""The graph, its types, op table, text form, verifier and diagnostics. Imports nothing of ours."""
