"""What lies between two bases is found by index: ends of valid time, and the openings and closings of one namespace in their order."""

from __future__ import annotations

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_INDEXES = {
    "statements_by_valid_end": ["namespace", "v_to", "tx_to"],
    "statements_by_opening": ["namespace", "tx_from"],
    "statements_by_closing": ["namespace", "tx_to"],
}


def upgrade() -> None:
    """Add the indexes."""
    for name, columns in _INDEXES.items():
        op.create_index(name, "statements", columns)


def downgrade() -> None:
    """Drop them."""
    for name in _INDEXES:
        op.drop_index(name, "statements")
