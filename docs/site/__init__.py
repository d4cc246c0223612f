"""Extensions of the pages beyond Sphinx and MyST: formulas and graphs without scripts, and links out of this folder."""
