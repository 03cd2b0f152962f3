"""Score tables of any size and watch for drift."""
