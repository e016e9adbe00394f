"""The Celery application: its configuration as data, each setting with its reason."""

from __future__ import annotations

from typing import Any

from celery import Celery
from kombu import Queue

from graph.work import BULK, LIVE
from workers.broker.settings import BrokerSettings

EXTRACT, EMBED = "erstwhile.extract", "erstwhile.embed"
QUEUES = (LIVE, BULK)
UP_WITHIN = 120.0
"""Seconds in which a process of a worker has loaded its model."""
LOST_AFTER = 1.0
"""Seconds after which the task of a process that died goes back to the queue."""


def configuration(settings: BrokerSettings) -> dict[str, Any]:
    """What the service and its workers configure Celery with."""
    return {
        # A task is done when its results are on the stream, not when it is taken.
        "task_acks_late": True,
        # A process that is killed gives its task back.
        "task_reject_on_worker_lost": True,
        # So does one that is killed for its time; what else escapes a task is given back by the task itself.
        "task_acks_on_timeout": False,
        "task_acks_on_failure": True,
        # A worker holds no task that another could run.
        "worker_prefetch_multiplier": 1,
        # What comes of a task goes through the stream, which the owner acknowledges; nobody would read it elsewhere. So no chords.
        "result_backend": None,
        "task_ignore_result": True,
        "task_store_errors_even_if_ignored": False,
        # What unpickles runs code.
        "task_serializer": "json",
        "result_serializer": "json",
        "accept_content": ["json"],
        # One episode cannot hold a process for ever, nor be given to another worker while it runs.
        "task_time_limit": settings.task_time_limit,
        "task_soft_time_limit": settings.task_soft_time_limit,
        # What somebody waits for does not queue behind an import: each queue can have workers of its own.
        "task_queues": [Queue(name) for name in QUEUES],
        "task_default_queue": BULK,
        "task_create_missing_queues": False,
        "broker_url": settings.url,
        "broker_transport_options": {
            # A worker that vanished is found out by the time that its task was taken.
            "visibility_timeout": settings.visibility_timeout,
            # By default only every tenth look each ten seconds searches for such tasks.
            "unacked_restore_interval": settings.restore_interval,
            "unacked_restore_throttle": 1,
            "global_keyprefix": f"{settings.broker_prefix}:",
            # A Redis that is gone is told to the caller, and tried again by it.
            "socket_timeout": max(10.0, settings.broker_timeout),
            "socket_connect_timeout": settings.broker_timeout,
        },
        # A worker that is started before Redis waits for it.
        "broker_connection_retry_on_startup": True,
        "broker_connection_max_retries": None,
        # Results may be told twice, so a task that runs on while Redis is away does no harm; ended, it would count as a start in vain.
        "worker_cancel_long_running_tasks_on_connection_loss": False,
        # Told twice to stop, a worker gives its running tasks this long, then gives them back at once.
        "worker_soft_shutdown_timeout": settings.soft_shutdown,
        # The parser's memory grows with every new word.
        "worker_max_memory_per_child": settings.worker_memory * 1024,
        # A process first loads a model.
        "worker_proc_alive_timeout": UP_WITHIN,
        "worker_lost_wait": LOST_AFTER,
        # Logs are ours to shape; nobody listens to events; commands to workers would be a way in beside the signed tasks.
        "worker_hijack_root_logger": False,
        "worker_redirect_stdouts": False,
        "worker_send_task_events": False,
        "task_send_sent_event": False,
        "worker_enable_remote_control": False,
        # Times on the wire are read by nobody but Celery.
        "enable_utc": True,
        "timezone": "UTC",
    }


def make_app(settings: BrokerSettings) -> Celery:
    """The application, without tasks: whoever sends needs their names alone. Raises InvalidInput without a broker."""
    app = Celery("erstwhile", set_as_current=False)
    app.conf.update(configuration(settings))
    return app


def sending_app(settings: BrokerSettings) -> Celery:
    """The application of who sends tasks and must not wait for a Redis that is gone."""
    app = make_app(settings)
    options = app.conf.broker_transport_options
    app.conf.broker_transport_options = options | {
        "socket_timeout": settings.broker_timeout,
        "max_retries": 0,
        "connect_retries_timeout": settings.broker_timeout,
    }
    app.conf.broker_connection_timeout = settings.broker_timeout
    app.conf.task_publish_retry = False
    return app
