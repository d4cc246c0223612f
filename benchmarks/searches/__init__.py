"""Search methods beside each other: hypervolumes over evaluations on five studies, and the best row of a catalogue."""
