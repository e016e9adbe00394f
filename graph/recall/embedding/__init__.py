"""Embedders: texts to vectors behind one port, chosen by settings, and the cache of their vectors. Importing this loads no model."""
