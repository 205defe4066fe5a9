"""Decisions: frozen dataclasses in, frozen dataclasses out."""
