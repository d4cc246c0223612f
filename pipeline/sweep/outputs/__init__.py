"""Outputs of sweep files: of which joints and links they are stored."""
