"""The section `criteria` of a sweep file: what criteria of design are told of the robot."""
