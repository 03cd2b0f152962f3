"""One file a version of the tables; the file's number is the version."""
