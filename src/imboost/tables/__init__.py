"""A user's table in: files, frames, parsers, schema, encoder and scaling."""
