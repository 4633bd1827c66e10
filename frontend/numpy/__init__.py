"""Define NumPy's functions on values of a graph, one module for each family."""
