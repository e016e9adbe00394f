"""`python -m benchmarks.drift`: what questions of drift cost at 10,000, 100,000 and 1,000,000 claims, beside a plain SQLite table."""
