"""Work to be done: jobs, deliveries, dead letters; an episode that is held back can be released."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_ROW = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add tables and columns; what is held back, and what waits, is written down as such."""
    for name in ("tx_held", "tx_released"):
        op.add_column("episodes", sa.Column(name, sa.BigInteger()))
    op.create_index("episodes_by_released", "episodes", ["tx_released"])
    op.execute("UPDATE episodes SET tx_held = tx_extracted WHERE status = 'QUARANTINED'")
    op.create_table(
        "failures",
        sa.Column("row", _ROW, primary_key=True, autoincrement=True),
        sa.Column("namespace", sa.String(length=128), nullable=False),
        sa.Column("key", sa.String(length=32), nullable=False),
        sa.Column("revision", sa.String(length=32), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("tx_from", sa.BigInteger(), nullable=False),
        sa.Column("tx_to", sa.BigInteger(), nullable=False),
    )
    op.create_index("failures_by_key", "failures", ["key", "revision", "tx_to"])
    op.create_table(
        "deliveries",
        sa.Column("episode", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("queue", sa.String(length=8), nullable=False),
        sa.Column("starts", sa.Integer(), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("accepted", sa.BigInteger(), nullable=False),
        sa.Column("sent", sa.BigInteger()),
        sa.Column("problem", sa.Text()),
        sa.Column("trace", sa.String(length=64)),
    )
    op.create_index("deliveries_by_sent", "deliveries", ["sent", "queue", "episode"])
    op.execute(
        "INSERT INTO deliveries (episode, queue, starts, round, accepted) "
        "SELECT e.row, 'live', 0, 0, t.at FROM episodes e JOIN transactions t ON t.number = e.tx_recorded WHERE e.status = 'PENDING'"
    )
    op.create_table(
        "jobs",
        sa.Column("row", _ROW, primary_key=True, autoincrement=True),
        sa.Column("id", sa.String(length=32), nullable=False, unique=True),
        sa.Column("namespace", sa.String(length=128), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("actor", sa.String(length=128), nullable=False),
        sa.Column("trace", sa.String(length=64)),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("cancelled", sa.BigInteger()),
    )
    op.create_index("jobs_by_namespace", "jobs", ["namespace", "row"])
    op.create_table(
        "job_items",
        sa.Column("job", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("place", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("key", sa.String(length=32), nullable=False),
        sa.Column("revision", sa.String(length=32), nullable=False),
        sa.Column("known", sa.Boolean(), nullable=False),
        sa.Column("refused", sa.Text()),
    )
    op.create_index("job_items_by_episode", "job_items", ["key", "revision"])


def downgrade() -> None:
    """Drop what was added; what was held back and released, or given up, waits no more."""
    for table in ("job_items", "jobs", "deliveries", "failures"):
        op.drop_table(table)
    op.drop_index("episodes_by_released", "episodes")
    for name in ("tx_released", "tx_held"):
        op.drop_column("episodes", name)
