"""Small statistics that several packages share."""
