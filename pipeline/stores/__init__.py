"""What is done with a store besides running it: info, verify, repair, append, export."""
