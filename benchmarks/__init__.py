"""What is measured rather than tested: time (`basics.py`) and accuracy (`accuracy/`)."""
