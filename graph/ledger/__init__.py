"""The ledger: episodes and claims, append-only, and the statements that follow from them, in one SQL database."""
