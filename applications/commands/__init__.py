"""The commands of `limbsweep`, a module for each field; `applications.commands.cli` puts them together."""
