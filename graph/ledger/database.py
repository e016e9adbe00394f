"""Opening the ledger's database: SQLite by default, anything SQLAlchemy knows by URL; migrated to the newest schema on opening."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, inspect

from graph.ledger.planning import fix_plans
from ontology.errors import InvalidInput

_MIGRATIONS = Path(__file__).parent / "migrations"
NEWEST = "0004"
"""The revision of the newest migration; a test compares it with the migrations."""


def open_database(url: str) -> Engine:
    """An engine on the ledger at `url`, schema up to date.

    SQLite runs in WAL mode with synchronous=FULL: a committed transaction is on disk. Writers take the lock at BEGIN, so no
    transaction fails half-way for another's sake. How it plans is fixed (`graph.ledger.planning`). Raises InvalidInput for a ledger
    of a newer version.
    """
    engine = create_engine(url)
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _configure)
        event.listen(engine, "begin", _begin)
    with engine.connect() as connection:
        found = _revision(connection)
        if found is not None and found > NEWEST:
            raise InvalidInput(
                f"the ledger was written by a newer version of Erstwhile (its schema is {found}, this version knows {NEWEST}); "
                "run that version, or restore the copy that was made before it",
                reason="NEWER_LEDGER",
            )
        if found != NEWEST:
            _migrate(connection)
        fix_plans(connection)
    return engine


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    found: str | None = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
    return found


def _migrate(connection: Connection) -> None:
    # Loaded here: Alembic takes as long to load as a reading command takes to answer, and most ledgers are up to date.
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _configure(connection: Any, _record: Any) -> None:
    # The driver's own BEGIN is late and deferred; `_begin` says when.
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in (
        "journal_mode=WAL",
        "synchronous=FULL",
        "busy_timeout=10000",
        "foreign_keys=ON",
        "temp_store=MEMORY",
        "cache_size=-65536",
        "mmap_size=268435456",
    ):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin(connection: Any) -> None:
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
