"""What every other package imports: files, checks of what a caller passes, progress. No arms and no states here."""
