# One image for the service and its workers; docker-compose.yml says which command each runs.

FROM python:3.11-slim-bookworm AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN python -m venv /opt/erstwhile
WORKDIR /source
# Pinned by hash, and wheels only: nothing is compiled, and no set-up script runs. The models of spaCy and of the vectors come as wheels too.
COPY requirements.txt ./
RUN /opt/erstwhile/bin/pip install --require-hashes --only-binary=:all: --requirement requirements.txt
COPY pyproject.toml README.md LICENSE ./
COPY api ./api
COPY extraction ./extraction
COPY graph ./graph
COPY ontology ./ontology
COPY workers ./workers
# What builds is of no use to what runs.
RUN /opt/erstwhile/bin/pip install --no-deps --no-build-isolation . \
    && /opt/erstwhile/bin/pip uninstall --yes editables hatchling pathspec pluggy trove-classifiers pip

FROM python:3.11-slim-bookworm
RUN groupadd --gid 10001 erstwhile \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /data --shell /usr/sbin/nologin erstwhile \
    && install --directory --owner=10001 --group=10001 --mode=0700 /data
COPY --from=build /opt/erstwhile /opt/erstwhile
ENV PATH=/opt/erstwhile/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    HOME=/tmp \
    ORT_DISABLE_TELEMETRY=1 \
    ERSTWHILE_DATA=/data
WORKDIR /data
USER 10001:10001
VOLUME /data
EXPOSE 8000
# An index that is rebuilt at the start takes its time; a check that passes ends the start.
HEALTHCHECK --interval=10s --timeout=5s --start-period=10m --retries=3 CMD ["python", "-m", "api.probe"]
CMD ["erstwhile", "serve"]
