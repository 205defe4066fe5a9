"""One file a coding agent."""
