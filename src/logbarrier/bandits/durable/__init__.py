"""An agent whose every decision and reward is on disk before it is answered."""
