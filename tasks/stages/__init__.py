"""Programs of a robot family, traced once: limb, platform, assembly, actuation, reactions, equations of motion."""
