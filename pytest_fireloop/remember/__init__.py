"""State outside the work tree."""
