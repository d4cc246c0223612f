"""What the pages need beyond Sphinx and MyST: formulas and graphs without scripts, and links out of this folder."""
