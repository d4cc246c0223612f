"""SDF files: `file` reads them as they stand, `tree` makes a tree of bodies and loops of them."""
