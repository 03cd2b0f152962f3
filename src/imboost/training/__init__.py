"""Training of networks: batches, risks and the optimiser loop."""
