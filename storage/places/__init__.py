"""Places that stores are kept at: local folders and object storage, with their locks and journals."""
