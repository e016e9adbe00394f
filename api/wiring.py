"""The one place where the parts of a process are put together."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from api.ingestion import Ingestion
from api.pool import ExtractionPool
from api.service import Service
from api.settings import Settings
from ontology.loading import load_vocabulary

Opener = Callable[[], Service]
"""Opens the service; picklable, since the worker process that calls it is spawned."""
