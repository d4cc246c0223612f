"""Forces on bodies from outside the mechanism, as plain data: wrenches, and springs to the base."""
