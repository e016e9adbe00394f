"""Who is who: joins, splits, rejections; claims keep the group and source of their episode."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

from ontology.names import Keys

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_ROW = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_IDENTITY = sa.text("predicate = 'also_known_as'")


def upgrade() -> None:
    """Add tables and columns, and fill the columns for what is recorded."""
    op.add_column("episodes", sa.Column("speech", sa.Boolean(), nullable=False, server_default=sa.true()))
    op.add_column("things", sa.Column("own", sa.Text(), nullable=False, server_default=""))
    op.execute("UPDATE things SET own = folded")
    op.add_column("claims", sa.Column("grp", sa.Text()))
    op.add_column("claims", sa.Column("source", sa.Text(), nullable=False, server_default=""))
    op.add_column("claims", sa.Column("turned", sa.Boolean(), nullable=False, server_default=sa.false()))
    for name in ("replaces_subject", "replaces_object"):
        op.add_column("claims", sa.Column(name, sa.String(length=32)))
    for name in ("scope_group", "scope_source"):
        op.add_column("claims", sa.Column(name, sa.Text()))
    op.execute(
        "UPDATE claims SET "
        "grp = (SELECT e.grp FROM episodes e WHERE e.key = claims.episode AND e.revision = claims.revision), "
        "source = coalesce((SELECT e.source FROM episodes e WHERE e.key = claims.episode AND e.revision = claims.revision), '')"
    )
    _rekey()
    for name, column in (("claims_of_identity_by_subject", "subject"), ("claims_of_identity_by_object", "object")):
        op.create_index(name, "claims", [column], sqlite_where=_IDENTITY, postgresql_where=_IDENTITY)
    op.create_table(
        "components",
        sa.Column("row", _ROW, primary_key=True, autoincrement=True),
        sa.Column("namespace", sa.String(length=128), nullable=False),
        sa.Column("member", sa.String(length=32), nullable=False),
        sa.Column("root", sa.String(length=32), nullable=False),
        sa.Column("tx_from", sa.BigInteger(), nullable=False),
        sa.Column("tx_to", sa.BigInteger(), nullable=False),
    )
    op.create_index("components_by_member", "components", ["member", "tx_to"])
    op.create_index("components_by_root", "components", ["root", "tx_to"])
    op.create_index("components_by_namespace", "components", ["namespace", "tx_from"])
    op.create_index("components_by_tx_to", "components", ["tx_to"])
    op.create_table(
        "denotations",
        sa.Column("row", _ROW, primary_key=True, autoincrement=True),
        sa.Column("namespace", sa.String(length=128), nullable=False),
        sa.Column("key", sa.String(length=32), nullable=False),
        sa.Column("target", sa.String(length=32), nullable=False),
        sa.Column("kind", sa.String(length=8), nullable=False),
        sa.Column("scope_group", sa.Text()),
        sa.Column("scope_source", sa.Text()),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("said", sa.BigInteger(), nullable=False),
        sa.Column("claim", sa.String(length=32), nullable=False),
        sa.Column("tx_from", sa.BigInteger(), nullable=False),
        sa.Column("tx_to", sa.BigInteger(), nullable=False),
    )
    op.create_index("denotations_by_key", "denotations", ["key", "tx_to"])
    op.create_index("denotations_by_target", "denotations", ["target", "tx_to"])
    op.create_index("denotations_by_namespace", "denotations", ["namespace", "tx_from"])
    op.create_index("denotations_by_tx_to", "denotations", ["tx_to"])
    op.create_table(
        "rejections",
        sa.Column("row", _ROW, primary_key=True, autoincrement=True),
        sa.Column("namespace", sa.String(length=128), nullable=False),
        sa.Column("claim", sa.String(length=32), nullable=False),
        sa.Column("reason", sa.Text()),
        sa.Column("tx_from", sa.BigInteger(), nullable=False),
        sa.Column("tx_to", sa.BigInteger(), nullable=False),
    )
    op.create_index("rejections_by_claim", "rejections", ["claim", "tx_to"])
    op.create_index("rejections_by_tx_from", "rejections", ["tx_from"])


_KEYED = ("row", "namespace", "subject", "predicate", "qualifier", "object", "inverse_slot")
_CLAIMS = sa.table(
    "claims", *map(sa.column, (*_KEYED, "proposition", "replaces", "replaces_proposition", "replaces_subject", "replaces_object"))
)
_STATEMENTS = sa.table("statements", *map(sa.column, (*_KEYED, "base", "proposition", "polarity")))


def _rekey() -> None:
    """Of a symmetric relation both directions are one proposition now, and a denial's key is that of what it denies, hashed again."""
    connection = op.get_bind()
    secret = connection.execute(sa.text("SELECT value FROM settings WHERE name = 'secret'")).scalar()
    if secret is None:
        return
    keys = Keys(bytes(secret))
    for row in connection.execute(sa.select(_CLAIMS).where(_CLAIMS.c.inverse_slot.is_not(None))).all():
        if _symmetric(keys, row):
            _set(connection, _CLAIMS, row.row, proposition=_key(keys, row, row.subject, row.object))
    for row in connection.execute(sa.select(_STATEMENTS)).all():
        if _symmetric(keys, row) or not row.polarity:
            base = _key(keys, row, row.subject, row.object)
            _set(connection, _STATEMENTS, row.row, base=base, proposition=base if row.polarity else keys.denial(base))
    for row in connection.execute(sa.select(_CLAIMS).where(_CLAIMS.c.replaces_proposition.is_not(None))).all():
        for told in (row.subject, row.object):
            for one, other in ((told, row.replaces), (row.replaces, told)):
                # Of the two directions that whose key is on record.
                slot = keys.slot(row.namespace, one, row.predicate, row.qualifier)
                if keys.digest("proposition", slot, other, "+") == row.replaces_proposition:
                    key = _key(keys, row, one, other)
                    _set(connection, _CLAIMS, row.row, replaces_subject=one, replaces_object=other, replaces_proposition=key)


def _symmetric(keys: Keys, row: Any) -> bool:
    """Whether the other side's slot is one of the same predicate."""
    return bool(keys.slot(row.namespace, row.object, row.predicate, row.qualifier) == row.inverse_slot)


def _key(keys: Keys, row: Any, one: str, other: str) -> str:
    return keys.proposition(row.namespace, one, row.predicate, row.qualifier, other, symmetric=_symmetric(keys, row))


def _set(connection: sa.Connection, table: sa.TableClause, row: int, **values: str) -> None:
    connection.execute(sa.update(table).where(table.c.row == row).values(**values))


def downgrade() -> None:
    """Drop what was added; identity is lost, what was said is not."""
    op.execute("DELETE FROM settings WHERE name = 'identity'")
    for table in ("rejections", "denotations", "components"):
        op.drop_table(table)
    op.drop_index("claims_of_identity_by_subject", "claims")
    op.drop_index("claims_of_identity_by_object", "claims")
    for name in ("scope_source", "scope_group", "replaces_object", "replaces_subject", "turned", "source", "grp"):
        op.drop_column("claims", name)
    op.drop_column("things", "own")
    op.drop_column("episodes", "speech")
