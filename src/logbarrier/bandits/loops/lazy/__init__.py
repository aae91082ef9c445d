"""The lazy loop: a step costs about the same for a thousand arms and for a hundred thousand (docs/engine.md)."""
