"""Aggregate and compare benchmark results."""
