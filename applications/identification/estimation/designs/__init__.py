"""Identification of many designs of a dataset at a time: as `estimation.fit`, with arrays over designs.

Designs for which something is out of the ordinary are left to `estimation.fit`, one at a time.
"""
