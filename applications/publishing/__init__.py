"""Datasets for others: Parquet files, cards and metadata that other programs load without limbsweep.

`publish` writes a folder. Its parts are `episodes` (cases of a store in order), `frames` (Parquet files of samples),
`statistics`, `lerobot`, `card`, `croissant`, `crate` and `webdataset`, each one file format; `windows` reads a folder.
"""
