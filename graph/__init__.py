"""What was said, what is believed, and the graph of it: ledger, belief, store, behind one facade (`graph.facade`)."""
