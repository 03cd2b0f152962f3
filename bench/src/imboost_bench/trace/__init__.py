"""Record one training run update by update and check the paper's claims."""
