"""Applications built on the engine: studies, identification, export, reports and the command line."""
