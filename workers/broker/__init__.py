"""Extraction by Celery workers: the tasks that go out, the results that come back, and what runs between them."""
