"""Online decisions: ask, tell, arms that come and go, in memory or in a file that survives a kill."""
