"""A referee for coding agents that work on a failing pytest suite."""
