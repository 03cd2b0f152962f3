"""The labelling page: a person answers questions about rows in the browser or in the terminal."""
