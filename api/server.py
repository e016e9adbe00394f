"""`serve`: the HTTP server in a supervised worker process that owns the data folder."""

from __future__ import annotations

import ipaddress
import logging
import multiprocessing
import os
import signal
import sys
from functools import partial
from multiprocessing.connection import wait
from pathlib import Path
from socket import AF_INET, AF_INET6, SO_REUSEADDR, SOCK_STREAM, SOL_SOCKET, getaddrinfo, socket
from threading import Thread
from types import FrameType
from typing import TYPE_CHECKING

from api.exposure import Exposure, exposure_of, in_header, is_unspecified
from api.folder import owned
from api.service import Opener, Service
from api.settings import Settings
from api.supervisor import REFUSED, Supervisor
from extraction.hygiene import load_hygiene
from extraction.scrubbing import Scrubber
from ontology.errors import ErstwhileError, InvalidInput
from ontology.loading import load_vocabulary
from workers import log_scrubbing

if TYPE_CHECKING:
    import uvicorn

logger = logging.getLogger(__name__)

NICENESS = 10
"""By how much what extracts and embeds for a service stands back behind its answers."""

BACKLOG = 128


def listen(host: str, port: int, *, anywhere: bool = False) -> socket:
    """A listening socket on a loopback address, or `anywhere`. Raises InvalidInput for others, and where the port is taken."""
    try:
        family, _, _, _, address = getaddrinfo(host, port, type=SOCK_STREAM)[0]
    except OSError as failure:
        raise InvalidInput(f"{host!r} is no address of this machine: {failure}", path=("host",), reason="UNKNOWN_HOST") from failure
    if family not in (AF_INET, AF_INET6) or not (anywhere or ipaddress.ip_address(address[0]).is_loopback):
        raise InvalidInput(
            f"{host!r} is not a loopback address: without API keys the service listens on loopback only (127.0.0.1); "
            "see ERSTWHILE_API_KEYS_FILE",
            path=("host",),
            reason="NOT_LOOPBACK",
        )
    listening = socket(family, SOCK_STREAM)
    try:
        listening.setsockopt(SOL_SOCKET, SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(BACKLOG)
    except OSError as failure:
        listening.close()
        raise InvalidInput(f"port {port} on {host} cannot be used: {failure.strerror}", path=("port",), reason="PORT_TAKEN") from failure
    listening.set_inheritable(True)
    return listening


def url_of(listening: socket) -> str:
    """The address at which this machine reaches the server."""
    host, port = listening.getsockname()[:2]
    if is_unspecified(host):
        # Requests name loopback then: no host is called 0.0.0.0.
        host = "::1" if ":" in host else "127.0.0.1"
    return f"http://{in_header(host)}:{port}"


def _open(settings: Settings) -> Service:
    # Imported here, as all that only the worker needs: the supervising process stays small.
    from api.wiring import open_service

    # Whoever asks a question goes before what is read in the background.
    service = open_service(settings, niceness=NICENESS)
    # From here on by the user's rules too, and with the tags of this ledger.
    log_scrubbing.install(service.ingestion.shown)
    return service


def _stop_with_parent(server: uvicorn.Server) -> None:
    """Stop serving when the supervisor is gone: nobody else would."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        server.should_exit = True


def work(folder: Path, opening: Opener, exposure: Exposure, listening: socket) -> None:
    """The worker process: own the folder, open the service, serve until told to stop."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    # A dozen lines at the first start that tell an operator nothing.
    logging.getLogger("alembic").setLevel(logging.WARNING)
    scrubber = Scrubber(os.urandom(32))
    log_scrubbing.install(lambda text: scrubber.scrub(text).text)
    try:
        with owned(folder, url_of(listening)):
            _serve(opening, exposure, listening)
    except ErstwhileError as failure:
        print(f"erstwhile: {failure.message}", file=sys.stderr)  # noqa: T201
        sys.exit(REFUSED)


def _serve(opening: Opener, exposure: Exposure, listening: socket) -> None:
    import uvicorn

    from api.app import create_app
    from api.stalls import protocols

    failed: list[int] = []

    def give_up(failure: Exception) -> None:
        failed.append(REFUSED if isinstance(failure, InvalidInput) else 1)
        server.should_exit = True

    app = create_app(opening, failed=give_up, exposure=exposure)
    config = uvicorn.Config(
        app, loop="uvloop", log_level="warning", timeout_graceful_shutdown=10, lifespan="on", **protocols(exposure.patience)
    )

    class Server(uvicorn.Server):
        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            # uvicorn leaves out closing the service at a second signal. Ctrl-C sends one to each process of the terminal, and the
            # supervisor, which kills what takes too long, sends its own.
            self.should_exit = True

        async def shutdown(self, sockets: list[socket] | None = None) -> None:
            # uvicorn waits for all that it answers, and what is followed may go on for days.
            app.state.watches.close()
            await super().shutdown(sockets)

    server = Server(config)
    # uvicorn raises the signal that stopped it again when it is done; the folder must be released first.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    Thread(target=_stop_with_parent, args=(server,), daemon=True).start()
    server.run(sockets=[listening])
    if failed:
        sys.exit(failed[0])


def serve(settings: Settings, opening: Opener | None = None) -> int:
    """Serve until SIGINT or SIGTERM; the exit status. Raises InvalidInput (host, port, keys, ontology, hygiene) and DataFolderBusy.

    `opening` makes the service in the worker process; by default the one that the settings describe.
    """
    exposure = exposure_of(settings)
    listening = listen(settings.host, settings.port, anywhere=exposure.keyring is not None)
    with listening:
        # Seen here already, a mistake or a busy folder is one clear sentence and not the death of a worker.
        if opening is None:
            load_vocabulary(settings.ontology)
            load_hygiene(settings.hygiene)
            opening = partial(_open, settings)
        with owned(settings.data):
            pass
        print(f"Erstwhile answers at {url_of(listening)}/graphql (process {os.getpid()}; stop with Ctrl-C)", flush=True)  # noqa: T201
        return Supervisor(partial(work, settings.data, opening, exposure), listening).run()
