"""Campaigns of kills and races; every store has to end as an undisturbed one."""
