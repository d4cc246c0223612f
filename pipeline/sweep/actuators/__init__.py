"""What a sweep says of actuators: how they share forces that are not unique."""
