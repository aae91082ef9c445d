"""Results -> pictures, one file per view. Each file first computes the columns to show, then renders them."""
