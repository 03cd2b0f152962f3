"""The first version of the tables; those of a new store are in `database.py`."""

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Do nothing: every store has at least this version."""
