"""Online decisions with contexts."""
