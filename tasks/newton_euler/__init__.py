"""What the joints of a robot transmit: limb by limb, and as one sparse system for the whole robot."""
