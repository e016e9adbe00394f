"""Celery is configured to lose nothing. What can be seen to fail without its setting is tested with real workers (test_worker.py)."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from kombu.exceptions import ContentDisallowed, OperationalError

from tests.redis_server import RedisServer
from tests.workers.broker.hands import settings_for
from workers.broker.celery_app import EXTRACT, QUEUES, configuration, make_app, sending_app
from workers.broker.settings import BrokerSettings
from workers.broker.tasks import HIDDEN, Process, add_tasks, send_task

SETTINGS = settings_for("redis://:hush@127.0.0.1:1/0", task_time_limit=7, task_soft_time_limit=5, visibility_timeout=11, worker_memory=100)
EXPECTED: dict[str, Any] = {
    "task_acks_late": True,
    "task_reject_on_worker_lost": True,
    "task_acks_on_timeout": False,
    "worker_prefetch_multiplier": 1,
    "result_backend": None,
    "task_ignore_result": True,
    "task_serializer": "json",
    "accept_content": ["json"],
    "task_time_limit": 7,
    "task_soft_time_limit": 5,
    "worker_max_memory_per_child": 100 * 1024,
    "worker_soft_shutdown_timeout": SETTINGS.soft_shutdown,
    "worker_cancel_long_running_tasks_on_connection_loss": False,
    "worker_hijack_root_logger": False,
    "worker_enable_remote_control": False,
    "worker_send_task_events": False,
    "broker_connection_retry_on_startup": True,
}


@pytest.mark.parametrize("name", EXPECTED)
def test_the_application_has_the_setting(name: str) -> None:
    assert getattr(make_app(SETTINGS).conf, name) == EXPECTED[name]


@pytest.mark.parametrize("name", configuration(SETTINGS))
def test_every_setting_is_one_that_celery_knows(name: str) -> None:
    from celery.app.defaults import NAMESPACES, flatten

    assert name in dict(flatten(NAMESPACES))


def test_lost_tasks_are_looked_for_often(redis: RedisServer) -> None:
    # As kombu's channel takes them: a misspelt option would be passed over in silence.
    with make_app(settings_for(redis.url, restore_interval=3)).connection() as connection:
        channel: Any = connection.default_channel
        assert (channel.unacked_restore_interval, channel.unacked_restore_throttle, channel.visibility_timeout) == (3, 1, 120)
        assert channel.global_keyprefix == "erstwhile:"


def test_the_time_limits_are_under_the_time_after_which_a_task_counts_as_lost() -> None:
    settings = BrokerSettings()
    assert settings.task_soft_time_limit < settings.task_time_limit < settings.visibility_timeout < settings.resend_after


def test_the_queues_are_these_and_no_others_come_to_be() -> None:
    app = make_app(SETTINGS)
    assert [queue.name for queue in app.conf.task_queues] == list(QUEUES)
    assert app.conf.task_create_missing_queues is False


def test_a_task_on_its_way_shows_no_text(redis: RedisServer) -> None:
    settings = settings_for(redis.url)
    send_task(sending_app(settings), EXTRACT, "bulk", b"Ada likes tea", "a mark")
    with redis.client() as client:
        message = json.loads(client.lpop("erstwhile:bulk"))
        # The body itself is in base64.
        assert message["headers"]["argsrepr"] == HIDDEN
        assert message["headers"]["ignore_result"] is True
        assert "Ada" not in json.dumps(message)
        assert {key for key in client.keys("*") if "_kombu.binding" not in key} == set()


def test_what_is_no_json_is_not_read(redis: RedisServer) -> None:
    app = make_app(settings_for(redis.url))
    with app.connection() as connection, connection.SimpleQueue("bulk") as queue:
        queue.put({"a": 1}, serializer="pickle")
        taken: Any = connection.default_channel
        message = taken.basic_get("bulk")
        message.accept = set(app.conf.accept_content)
        with pytest.raises(ContentDisallowed):
            message.decode()


def test_sending_to_a_redis_that_is_gone_fails_at_once() -> None:
    begun = time.monotonic()
    with pytest.raises(OperationalError):
        send_task(sending_app(settings_for("redis://127.0.0.1:1/0")), EXTRACT, "bulk", b"{}", "")
    assert time.monotonic() - begun < 2


@pytest.mark.parametrize("args", [(), ("one",), ("one", "two", "three"), ({}, [])])
def test_a_task_with_other_arguments_is_refused_like_any_unsigned_one(redis: RedisServer, args: tuple[Any, ...]) -> None:
    settings = settings_for(redis.url)
    app = make_app(settings)
    no_extractor: Callable[..., Any] = pytest.fail
    add_tasks(app, Process(app, settings, no_extractor, pytest.fail, str))
    for task in ("erstwhile.extract", "erstwhile.embed"):
        app.tasks[task](*args, more=1)
    with redis.client() as client:
        assert client.hgetall("erstwhile:counts") == {"refused": "2"}
