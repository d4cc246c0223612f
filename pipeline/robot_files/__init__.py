"""Robot files and imports from other formats: read, checked, and made into families of robots."""
