"""Settings of the broker: consistent, and silent about what is secret in them."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from ontology.errors import InvalidInput
from workers.broker.settings import BrokerSettings, read_settings

URL = "redis://:hush@127.0.0.1:6379/0"
KEY = "sixteen letters."


def test_without_a_broker_nothing_else_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ERSTWHILE_BROKER_URL", raising=False)
    settings = read_settings()
    assert settings.broker_url is None
    for get in (lambda: settings.url, lambda: settings.key):
        with pytest.raises(InvalidInput):
            get()


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"BROKER_URL": URL}, "ERSTWHILE_WORKER_KEY"),
        ({"BROKER_URL": URL, "WORKER_KEY": "too short"}, "ERSTWHILE_WORKER_KEY"),
        ({"BROKER_URL": "amqp://user:hush@127.0.0.1", "WORKER_KEY": KEY}, "ERSTWHILE_BROKER_URL"),
        ({"TASK_SOFT_TIME_LIMIT": "90"}, "ERSTWHILE_TASK_TIME_LIMIT"),
        ({"TASK_TIME_LIMIT": "120"}, "ERSTWHILE_VISIBILITY_TIMEOUT"),
        ({"BULK_WINDOW": "hush"}, "ERSTWHILE_BULK_WINDOW"),
        ({"BROKER_PREFIX": "hush:*"}, "ERSTWHILE_BROKER_PREFIX"),
    ],
)
def test_a_mistake_names_its_variable_and_no_value(given: dict[str, str], named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in given.items():
        monkeypatch.setenv(f"ERSTWHILE_{name}", value)
    with pytest.raises(InvalidInput) as failure:
        read_settings()
    assert named in failure.value.message
    for secret in ("hush", "too short", KEY):
        assert secret not in failure.value.message
    with pytest.raises(ValidationError) as raw:
        BrokerSettings()
    assert "hush" not in str(raw.value)


def test_they_show_no_secrets() -> None:
    settings = BrokerSettings(broker_url=URL, worker_key=KEY)  # type: ignore[arg-type]
    assert "hush" not in repr(settings)
    assert KEY not in repr(settings)
    assert settings.url == URL
    assert settings.key == KEY.encode()


def test_every_setting_is_described() -> None:
    assert [name for name, field in BrokerSettings.model_fields.items() if not field.description] == []
