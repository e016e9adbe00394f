"""Opening the ledger's database: migrations."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory

from graph.ledger import database
from ontology.errors import InvalidInput


def test_newest_revision_is_that_of_the_migrations() -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(database.__file__).parent / "migrations").replace("%", "%%"))
    scripts = ScriptDirectory.from_config(config)
    assert scripts.get_current_head() == database.NEWEST
    # In the order of their names, so that a newer one is known without its script.
    revisions = [script.revision for script in scripts.walk_revisions()]
    assert revisions == sorted(revisions, reverse=True)
    assert {len(revision) for revision in revisions} == {4}


def test_a_ledger_of_a_newer_version_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'ledger.db'}"
    engine = database.open_database(url)
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    engine.dispose()
    with pytest.raises(InvalidInput, match="newer version") as failure:
        database.open_database(url)
    assert "9999" in failure.value.message
    with sqlite3.connect(tmp_path / "ledger.db") as left:
        assert left.execute("SELECT version_num FROM alembic_version").fetchone() == ("9999",)
    left.close()
