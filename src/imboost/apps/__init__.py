"""Programs for people: the command line."""
