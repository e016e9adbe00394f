"""Belief: pure functions from the set of visible claims to statements. Arrival order never enters (DESIGN section 2)."""
