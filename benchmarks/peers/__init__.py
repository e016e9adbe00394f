"""Other memory systems on the same facts, each in an environment of its own: `python -m benchmarks.peers.run`."""
