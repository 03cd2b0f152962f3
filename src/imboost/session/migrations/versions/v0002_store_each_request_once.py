"""Let a call with a request id store an entry about a row once."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Create the index."""
    has_request = sa.text("request <> ''")
    op.create_index(
        "entry_request",
        "entry",
        ["session_id", "request", "row"],
        unique=True,
        sqlite_where=has_request,
        postgresql_where=has_request,
    )
