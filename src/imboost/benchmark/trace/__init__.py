"""Follow one training run update by update."""
