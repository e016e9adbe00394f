"""Reproducible measurements. Each module runs as `python -m benchmarks.NAME`; figures stand in README.md here."""
