"""The graph projection: engines behind one port, and the follower that keeps them up with the ledger."""
