"""The one place where the parts of a process are put together."""

from __future__ import annotations

from collections.abc import Callable

from api.service import Service

Opener = Callable[[], Service]
"""Opens the service; picklable, since the worker process that calls it is spawned."""
