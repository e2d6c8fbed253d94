"""The pieces of the plateau statistics, one idea a file; soak.plateau puts them together."""
