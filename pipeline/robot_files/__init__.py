"""Read and check robot files, and import robots from other formats."""
