"""The REST scoring service."""
