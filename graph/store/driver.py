"""The native engine of the graph: Kuzu, or its maintained fork Ladybug, which has the same interface. A process loads one of them.

Both carry the same symbols; which of the two a call reached would be left to the loader. So whoever needs the driver asks here.
"""

from __future__ import annotations

import importlib

# Kuzu's native code uses `importlib.util` without importing it.
import importlib.util
import sys
from typing import Any, Literal, get_args

from ontology.errors import InvalidInput

Native = Literal["kuzu", "ladybug"]

NATIVE: tuple[Native, ...] = get_args(Native)


def require(name: Native) -> None:
    """Raises InvalidInput where the driver is not installed, and where the process has loaded the other one. Loads nothing."""
    for other in NATIVE:
        if other != name and other in sys.modules:
            raise InvalidInput(
                f"this process has loaded {other} already, and {name} cannot be loaded beside it; open the graph in a process of its own",
                reason="ENGINE_LOADED",
            )
    if name not in sys.modules and importlib.util.find_spec(name) is None:
        raise InvalidInput(
            f"the graph's engine {name} is not installed; install it (pip install 'erstwhile[{name}]'), or choose another "
            "by ERSTWHILE_GRAPH_ENGINE",
            reason="ENGINE_MISSING",
        )


def driver(name: Native) -> Any:
    """The module `kuzu` or `ladybug`. Raises InvalidInput as `require`."""
    require(name)
    return importlib.import_module(name)
