"""What lies between two bases is found by index: ends of valid time, and the openings and closings of one namespace in their order.

What is said of a thing is looked up with its valid time, so that of a thing with a long history only what holds is read.
"""

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


_WITH_VALID_TIME = {"statements_by_subject": "subject", "statements_by_object": "object"}


def upgrade() -> None:
    """Add the indexes, and widen those by thing."""
    for name, columns in _INDEXES.items():
        op.create_index(name, "statements", columns)
    for name, column in _WITH_VALID_TIME.items():
        op.drop_index(name, "statements")
        op.create_index(name, "statements", [column, "tx_to", "v_from", "v_to"])


def downgrade() -> None:
    """Drop them, and narrow those."""
    for name in _INDEXES:
        op.drop_index(name, "statements")
    for name, column in _WITH_VALID_TIME.items():
        op.drop_index(name, "statements")
        op.create_index(name, "statements", [column, "tx_to"])
