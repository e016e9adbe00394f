"""Keeps ONNX Runtime from reporting to its maker."""

from __future__ import annotations

import os

SWITCH = "ORT_DISABLE_TELEMETRY"


def keep_quiet() -> None:
    """Call it before the library is loaded.

    From 1.31 on it writes a device ID and a log of its use into the user's cache folder and sends them over the network. It reads this
    variable as it is loaded; `onnxruntime.disable_telemetry_events` comes too late for the files (measured).
    """
    os.environ[SWITCH] = "1"
