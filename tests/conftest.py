"""What all tests share: no model is loaded, and no vectors are made, unless a test asks for it."""

from __future__ import annotations

import os

os.environ.setdefault("ERSTWHILE_EMBEDDER", "none")
