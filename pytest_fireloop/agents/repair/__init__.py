"""The embedded agent: no model, no network."""
