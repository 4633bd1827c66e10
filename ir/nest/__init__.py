"""Loops and memory in the IR: the `nest` dialect, which a backend translates op by op."""
