"""Create the tables of sessions and their entries."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "session",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("created", sa.DateTime(timezone=True), nullable=False),
        sa.Column("settings", sa.Text, nullable=False),
    )
    op.create_table(
        "entry",
        sa.Column("session_id", sa.Integer, sa.ForeignKey("session.id"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("when", sa.DateTime(timezone=True), nullable=False),
        sa.Column("row", sa.BigInteger),
        sa.Column("answer", sa.Text),
        sa.Column("round", sa.Integer),
        sa.Column("who", sa.Text),
        sa.Column("score", sa.Double),
        sa.Column("rank", sa.BigInteger),
        sa.Column("strategy", sa.Text),
        sa.Column("seconds", sa.Double),
        sa.Column("note", sa.Text),
        sa.Column("request", sa.Text),
        sa.Column("resolves", sa.Boolean),
        sa.Column("n_entries", sa.Integer),
        sa.Column("n_rows", sa.BigInteger),
        sa.Column("n_features", sa.BigInteger),
        sa.Column("fingerprint", sa.Text),
        sa.Column("detector_seed", sa.BigInteger),
        sa.Column("strategy_seed", sa.BigInteger),
    )
