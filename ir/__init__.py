"""Define the graph, its types, op table, text form, verifier and diagnostics. It imports no other layer."""
