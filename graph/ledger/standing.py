"""Rows of versioned tables that stand at a transaction."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, and_, bindparam


def believed_at(table: Any, transaction: int) -> ColumnElement[bool]:
    """The rows of a versioned table that stand at a transaction."""
    return and_(table.c.tx_from <= transaction, table.c.tx_to > transaction)


def standing(table: Any) -> ColumnElement[bool]:
    """The same for statements built once: the transaction is the parameter `:transaction`."""
    return and_(table.c.tx_from <= bindparam("transaction"), table.c.tx_to > bindparam("transaction"))
