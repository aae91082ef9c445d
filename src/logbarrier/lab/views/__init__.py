"""Results -> pictures, one file a view. Each file first computes the columns to show, then draws them."""
