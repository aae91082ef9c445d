"""What every other room stands on: files, checks of what a caller passes, progress. No arms and no states here."""
