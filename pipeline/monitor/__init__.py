"""What a run tells while it runs, who listens, and how it is cancelled."""
