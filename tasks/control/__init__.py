"""Controllers: their laws, what they compute from the robot itself, and the loop of samples, limits and delays."""
