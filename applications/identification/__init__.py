"""Datasets for identification, exciting motions, and estimates from stored or recorded data."""
