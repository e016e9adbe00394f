"""Celery workers, and the owner's side of them."""
