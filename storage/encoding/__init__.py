"""What the bytes of files mean: shards, checksums, bounded JSON; no files are opened here."""
