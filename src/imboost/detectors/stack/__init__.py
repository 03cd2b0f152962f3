"""Stacking: base learners on the columns and on unsupervised scores."""
