"""The agent in a file: every call is on disk before it is answered."""
