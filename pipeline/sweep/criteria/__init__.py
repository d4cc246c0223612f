"""The section `criteria` of a sweep file: data of the robot for criteria of design."""
