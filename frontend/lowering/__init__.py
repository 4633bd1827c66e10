"""Lower checked syntax to graphs, for the types of a call."""
