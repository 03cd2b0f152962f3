"""Read and encode tables: files, frames, parsers, schema, encoder and scaling."""
