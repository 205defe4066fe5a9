"""Side effects: agents, test runs, checkpoints, verification."""
