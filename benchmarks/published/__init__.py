"""Problems that the field judges multibody programs by, against the figures that their sources publish."""
