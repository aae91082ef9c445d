"""Contextual bandits."""
