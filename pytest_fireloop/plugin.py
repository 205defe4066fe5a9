"""pytest's door: options, registration and hooks, nothing else."""
