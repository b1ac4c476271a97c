"""Serves a driver or world to Anabranch."""

from __future__ import annotations

import gc
import os
import sys
from typing import Any, Callable, Optional, Union

from . import fork, wire, zmtp
from .card import Thing, card
from .optimiser import Optimiser, OptimiserSession
from .probe import Choice, choose, states_for
from .session import Session
from .states import States

ENDPOINT = "ANABRANCH_ENDPOINT"
_LINGER_MS = 1000
_COLLECT_EVERY = 100_000
Worker = Union[Session, fork.Broker, OptimiserSession]


def serve(
    thing: Union[Thing, type[Any]],
    endpoint: Optional[str] = None,
    *,
    snapshot: Optional[str] = None,
    allow_remote: bool = False,
) -> None:
    """Answers Anabranch until it says bye or is gone.

    A program that Anabranch started finds its way by itself. Give an `endpoint` ("tcp://127.0.0.1:5555") to wait there
    instead; only this machine can connect unless `allow_remote` is set. `snapshot` is "own", "copy", "fork" or "replay".
    """
    make: Optional[Callable[[], Any]] = thing if isinstance(thing, type) else None
    one: Any = make() if make is not None else thing
    given = os.environ.get(ENDPOINT)
    if endpoint is None and given is None:
        raise SystemExit(how_to_use(one))
    worker = worker_for(one, make, snapshot)
    gc_settled()
    try:
        if endpoint is not None:
            _wait_at(_checked(endpoint, allow_remote), worker)
        elif given is not None:
            _answer_host(given, worker)
    except KeyboardInterrupt:
        pass
    finally:
        if isinstance(worker, fork.Broker):
            worker.close()


def worker_for(
    one: Any, make: Optional[Callable[[], Any]] = None, snapshot: Optional[str] = None
) -> Worker:
    """What does the work: in this process, or by forking."""
    if isinstance(one, Optimiser):
        return OptimiserSession(one)
    choice = choose(one, make, snapshot)
    states = states_for(choice, one, make)
    if choice.way != "fork":
        return Session(states, packed_card(one, states.support, states.snapshot, choice))
    body = packed_card(one, "save", "fork", choice)
    # Inside the processes there is one branch each; how to multiply it is the broker's business.
    return fork.Broker(lambda: Session(_Single(one, None), body), body)


class _Single(States):
    """The process is the copy: the code before any run is used itself."""

    def fresh(self) -> Any:
        return self.template


def packed_card(one: Any, support: str, snapshot: str, choice: Choice) -> bytes:
    """The answer to `describe`."""
    body = card(one, support, snapshot, choice.tells_bytes)
    if snapshot == "fork":
        body["tokens_max"] = fork.tokens_max()
    packed: bytes = wire.pack({"card": body})
    return packed


def gc_settled() -> None:
    """A message makes many small maps, which the collector would look at again and again. What is there stays there."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_COLLECT_EVERY, 20, 20)


def _answer_host(endpoint: str, worker: Worker) -> None:
    """Answers the host that started us, until it says bye or is gone."""
    try:
        link = zmtp.Link(endpoint)
        while not worker.ended:
            body = link.receive()
            link.send(worker.answer(body, link.blobs))
        link.close()
    except (zmtp.Closed, ConnectionError):
        pass


def _wait_at(endpoint: str, worker: Worker) -> None:
    """Waits for whoever connects, until one says bye."""
    # Anabranch starts dozens of instances in one exploration, and none of them waits here: the library is a fifth of their start.
    import zmq

    context = zmq.Context()
    link = context.socket(zmq.REP)
    link.setsockopt(zmq.LINGER, _LINGER_MS)
    link.setsockopt(zmq.MAXMSGSIZE, wire.BODY_BYTES_MAX)
    try:
        link.bind(endpoint)
        while not worker.ended:
            body, *blobs = link.recv_multipart()
            link.send(worker.answer(body, blobs))
    finally:
        link.close()
        context.term()


def _checked(endpoint: str, allow_remote: bool) -> str:
    """Loopback and sockets in the file system are fine; more must be asked for."""
    scheme, _, rest = endpoint.partition("://")
    host = rest.rsplit(":", 1)[0].strip("[]")
    local = scheme in ("ipc", "inproc") or host == "localhost" or host == "::1" or host.startswith("127.")
    if local:
        return endpoint
    if not allow_remote:
        raise ValueError(f"{endpoint} can be reached from outside of this machine; say allow_remote=True if you mean it")
    print(f"warning: {endpoint} can be reached from outside of this machine", file=sys.stderr)
    return endpoint


def how_to_use(thing: Any) -> str:
    """For somebody who started the file by hand."""
    file = os.path.basename(sys.argv[0] or "av.py")
    if isinstance(thing, Optimiser):
        return f"{type(thing).__name__} is an optimiser for Anabranch: `anabranch search scenario.toml --method {file}`."
    role = "world" if hasattr(thing, "run") and hasattr(thing, "errors") else "driver"
    use = f"anabranch explore {file}" if role == "world" else f"anabranch explore scenario.toml --driver {file}"
    return f"{type(thing).__name__} is a {role} for Anabranch. Explore it with `{use}`."
