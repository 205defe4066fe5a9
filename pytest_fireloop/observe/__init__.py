"""What happened, as plain data."""
