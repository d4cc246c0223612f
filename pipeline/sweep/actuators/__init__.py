"""Settings of actuators in a sweep: distribution of forces that are not unique."""
