"""Define the `nest` dialect: loops and memory in the IR, which a backend translates op by op."""
