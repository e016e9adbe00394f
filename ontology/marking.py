"""How text that this service wrote for a prompt is known again. What stands between these marks is no evidence: it was said before."""

from __future__ import annotations

from typing import Final

NAME: Final = "erstwhile-recall"
BEGIN: Final = f"<{NAME}>"
END: Final = f"</{NAME}>"
