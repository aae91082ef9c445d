"""How rules run fast: lanes, exp and log, random streams, the compiled loops and their cache."""
