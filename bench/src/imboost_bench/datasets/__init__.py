"""ADBench data sets and their splits."""
