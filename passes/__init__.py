"""Graph in, graph out: the pipeline between a front end and a backend."""
