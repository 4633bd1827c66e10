"""Run jitted functions as programs: decide who runs a call, run the pieces of a plan, and report on them."""
