"""Write the explorer page: one HTML file that shows a kernel going through its passes, down to assembly."""
