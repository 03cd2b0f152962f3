"""Training: which rows, which risk, one optimiser loop. It knows labels, but no oracle."""
