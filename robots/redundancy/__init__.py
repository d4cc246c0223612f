"""What decides the joints that the pose of a redundant robot leaves free, as plain data: a posture, and tasks."""
