"""Recall: what bears on a question, found by vectors, words and the graph among what holds on a basis."""
