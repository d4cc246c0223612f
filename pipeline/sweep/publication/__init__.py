"""Publication of a dataset: its licence, authors, version and citation, and the section of a sweep that says them."""
