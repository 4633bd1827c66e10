"""Rewrite graphs: the passes between a front end and a backend, and the pipeline that orders them."""
