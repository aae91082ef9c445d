"""The compiled loops: how a run is carried from step to step. docs/engine.md explains which one runs what."""
