"""The commands of `imboost-bench`."""
