"""People's door: one file a command."""
