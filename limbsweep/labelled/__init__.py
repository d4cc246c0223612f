"""The functions of `tasks` for xarray: arrays with names of dims go in and come out, chunked ones stay lazy."""
