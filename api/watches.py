"""What the subscriptions of one application follow."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from api.feeds import Feeds
from api.settings import PATIENCE
from api.subscriptions import PAUSE, Watch
from graph.work import Jobs, JobView


@dataclass(frozen=True, slots=True)
class JobKey:
    """A job of a namespace."""

    jobs: Jobs
    namespace: str
    id: str


def _jobs_now(keys: Collection[JobKey]) -> dict[JobKey, JobView]:
    found = {key: key.jobs.job(key.namespace, key.id) for key in keys}
    return {key: view for key, view in found.items() if view is not None}


class Watches:
    """What is followed. `patience`: seconds that a follower of changes may leave an event untaken."""

    def __init__(self, *, pause: float = PAUSE, patience: float = PATIENCE) -> None:
        self.jobs: Watch[JobKey, JobView] = Watch(_jobs_now, pause=pause)
        self.changes = Feeds(pause=pause, patience=patience)

    @property
    def followers(self) -> int:
        """How many subscriptions are open."""
        return sum(self.figures.values())

    @property
    def figures(self) -> Mapping[str, int]:
        """How many follow what."""
        return {"jobs": self.jobs.followers, "changes": self.changes.followers}

    def close(self) -> None:
        """End all subscriptions: a server that stops waits for none."""
        self.jobs.close()
        self.changes.close()
