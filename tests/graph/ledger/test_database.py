"""Opening the ledger's database: migrations."""

from __future__ import annotations

from pathlib import Path

from alembic.config import Config
from alembic.script import ScriptDirectory

from graph.ledger import database


def test_newest_revision_is_that_of_the_migrations() -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(database.__file__).parent / "migrations").replace("%", "%%"))
    assert ScriptDirectory.from_config(config).get_current_head() == database.NEWEST
