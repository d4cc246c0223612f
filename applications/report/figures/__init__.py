"""Static figures of results with matplotlib, for papers and notebooks."""
