"""Numbers that do not come from limbsweep: slow references and other engines. Nothing here imports robots or tasks."""
