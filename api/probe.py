"""`python -m api.probe`: whether the service on this machine is ready, by its exit status. What an image without curl asks with."""

from __future__ import annotations

import os
import sys
from http.client import HTTPConnection, HTTPException

PATIENCE = 4.0
"""Seconds; less than what the health check allows."""


def ready(port: int, patience: float = PATIENCE) -> bool:
    """Whether `/readyz` answers 200 on loopback."""
    connection = HTTPConnection("127.0.0.1", port, timeout=patience)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


if __name__ == "__main__":
    # Not by way of the settings: loading them takes longer than asking.
    sys.exit(0 if ready(int(os.environ.get("ERSTWHILE_PORT") or 8000)) else 1)
