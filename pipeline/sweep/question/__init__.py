"""The section `study` of a sweep file: the question that its results are to answer."""
