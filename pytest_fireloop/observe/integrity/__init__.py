"""What was done to tests, configuration and product to make tests pass."""
