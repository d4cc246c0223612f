"""Tables of numbers in files: text, NPY, NPZ, Parquet, MAT, HDF5, NetCDF, bags of ROS; one set of bounds."""
