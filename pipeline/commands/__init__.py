"""The commands of `limbsweep`, a module for each field; `pipeline.cli` puts them together."""
