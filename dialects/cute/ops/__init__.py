"""The ops of the `cute` dialect, a module for each group; the laws are in `..rules`."""
