"""Write the plan of a function: which statements form pieces, what a piece needs, and what Python runs around it."""
