"""Puts the gateway together: configuration in, a running gateway out.

Platforms, providers and stores are modules that are loaded by name, so that nobody pays for one that is not used.
"""

import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

import anyio

from gateway import access, approval
from gateway.adapter import Receive
from gateway.agent import Agent
from gateway.clerk import Clerk
from gateway.configuration import FILE_NAME, AgentSettings, Configuration, Document, PacingSettings
from gateway.conversation import Conversations, Watch
from gateway.delivery import Delivery
from gateway.door import Door
from gateway.error import ConfigurationError, DragomanError, StoreError
from gateway.inbound import CommandReceived, Ignored, Inbound, MessageEdited, MessageReceived, PressReceived
from gateway.limit import Limits
from gateway.platform import Platform
from gateway.provider import Model
from gateway.role import Roles
from gateway.store import Decision, Pairings, Store
from gateway.terms import Terms
from gateway.toolbox import Toolbox, open_toolbox

log = logging.getLogger(__name__)

GRACE = 20.0
"""Real seconds that runs get to end once the gateway is told to stop."""

DAY = 86_400.0
KEPT = 7 * DAY
"""How long finished events are remembered, in seconds."""

TICKET_PAUSE = 60.0
"""Seconds between two looks for expired tickets, at least."""

OURS = ("model", "agent", "store", "pacing", "tools", "approvals", "roles")
"""The tables that belong to no platform."""

FALLBACK = "fallback"
"""The table of the model that answers where the other cannot; nothing is built in for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """All that a gateway is made of, checked and not yet running."""

    store: AbstractAsyncContextManager[Store]
    agent: Agent
    platforms: tuple[Platform, ...]
    warnings: tuple[str, ...]
    concurrent_runs: int
    time_scale: float
    terms: Terms = field(default_factory=Terms)
    pairing: bool = False


def data_folder() -> Path:
    """Where the built-in configuration lies: inside an installed package, beside it in a checkout."""
    installed = Path(__file__).parent / "config"
    return installed if installed.is_dir() else Path(__file__).parent.parent / "config"


def configure(path: Path | None) -> Configuration:
    """The configuration in a file, over what is built in.

    Args:
        path: the file; none for ``dragoman.toml`` in the working folder where there is one.

    Raises:
        ConfigurationError: the file cannot be read or is no TOML.
    """
    if path is None and Path("dragoman.toml").is_file():
        path = Path("dragoman.toml")
    defaults = Document.open(data_folder() / "defaults.toml")
    return Configuration(Document.open(path) if path else None, defaults)


def assemble(configuration: Configuration) -> Parts:
    """Make the parts that the configuration asks for.

    Raises:
        ConfigurationError: names all that is wrong in the first table that is.
    """
    known = _platforms()
    configuration.refuse_unknown_tables([*OURS, FALLBACK, *known])
    present = [name for name in known if name in configuration.tables]
    if not present:
        tables = " or ".join(f"[{name}]" for name in known)
        place = configuration.place("") if configuration.written else f"there is no {FILE_NAME} in {Path.cwd()}"
        msg = f"{place}: no platform is configured; add the table {tables} (see the README)"
        raise ConfigurationError(msg)
    settings = configuration.read("agent", AgentSettings)
    platforms = [_platform(configuration, name, pairing=settings.pairing) for name in present]
    store = _chosen(configuration, "store", "kind", "gateway.stores")
    toolbox = _toolbox(configuration)
    return Parts(
        store=store.create(configuration.read("store", store.Settings)),
        agent=_agent(configuration, settings, toolbox),
        platforms=tuple(platform for platform, _ in platforms),
        warnings=tuple(warning for _, warnings in platforms for warning in warnings),
        concurrent_runs=settings.concurrent_runs,
        time_scale=configuration.read("pacing", PacingSettings).time_scale,
        pairing=settings.pairing,
        terms=Terms(files=toolbox.files, roles=toolbox.roles, patience=toolbox.approval_timeout),
    )


def agent(configuration: Configuration) -> tuple[Agent, Roles]:
    """The agent that a configuration describes, and who has which role, for whoever talks to it on no platform.

    Raises:
        ConfigurationError: names all that is wrong in the first table that is.
    """
    configuration.refuse_unknown_tables([*OURS, FALLBACK, *_platforms()])
    toolbox = _toolbox(configuration)
    return _agent(configuration, configuration.read("agent", AgentSettings), toolbox), toolbox.roles


def pairings(configuration: Configuration) -> AbstractAsyncContextManager[Pairings]:
    """Who is let in beside the configuration, to be looked at and changed also while the gateway runs.

    Raises:
        ConfigurationError: the table of the store is wrong.
    """
    store = _chosen(configuration, "store", "kind", "gateway.stores")
    return store.pairings(configuration.read("store", store.Settings))


async def serve(parts: Parts, *, watch: Watch, ready: Callable[[], None], stop: anyio.Event) -> None:
    """Run the gateway until ``stop`` is set, and then until the runs in progress are over, for ``GRACE`` at most.

    Args:
        parts: what to run.
        watch: told of every event of every run.
        ready: called once, when all platforms are connected.
        stop: set by whoever wants it to end.

    Raises:
        AdapterError: a platform does not let us in (any more).
        ConfigurationError: a secret of a platform is missing.
        StoreError: the store cannot be opened.
    """
    delivery = Delivery(time_scale=parts.time_scale)
    refusals: list[DragomanError] = []
    for warning in parts.warnings:
        log.warning("%s", warning)
    async with parts.store as store, anyio.create_task_group() as adapters:
        door = Door(store.pairings, pairing=parts.pairing)
        clerk = Clerk(store.approvals, parts.terms.roles.is_approver)
        conversations = Conversations(
            store=store,
            agent=parts.agent,
            delivery=delivery,
            platforms={platform.name: platform for platform in parts.platforms},
            admits=door.admits,
            watch=watch,
            terms=parts.terms,
            limit=parts.concurrent_runs,
        )
        connected = _Countdown(len(parts.platforms), ready)

        async def connect(platform: Platform) -> None:
            try:
                await platform.adapter.run(_receiver(platform, door, clerk, store, conversations), connected)
            except DragomanError as error:  # answers in progress may still end: an adapter performs without its socket
                refusals.append(error)
                stop.set()

        for platform in parts.platforms:
            adapters.start_soon(connect, platform)
        async with anyio.create_task_group() as runners:  # ends before the adapters do: it needs them to the last
            runners.start_soon(delivery.run)
            runners.start_soon(_keep_tidy, store)
            runners.start_soon(_forget_tickets, store)
            runners.start_soon(_expire_approvals, store, parts.terms.patience)
            runners.start_soon(_stop_in_time, stop, conversations, runners.cancel_scope)
            await conversations.run()
            runners.cancel_scope.cancel()
        adapters.cancel_scope.cancel()
    if refusals:
        raise refusals[0]


def _receiver(platform: Platform, door: Door, clerk: Clerk, store: Store, conversations: Conversations) -> Receive:
    """What an adapter gives its events to: decides who may, and stores; also while the gateway stops."""

    async def receive(inbound: Inbound) -> bool:
        asked = inbound.message if isinstance(inbound, MessageEdited) else inbound
        if not isinstance(asked, MessageReceived | CommandReceived | PressReceived) or await door.admits(
            platform, asked
        ):
            match inbound:
                case PressReceived() | CommandReceived(command="approve" | "deny"):
                    await decide(inbound, clerk, store, conversations)
                case _:
                    if (stored := await store.ingest(inbound)) is not None:
                        conversations.take(inbound, stored)
            return True
        log.warning("%s is not allowed to use the bot in %s", asked.user, asked.address.key)
        refused = await store.ingest(Ignored(event_id=inbound.event_id, reason=f"not allowed: {asked.user}"))
        if isinstance(asked, PressReceived):
            conversations.tell_privately(asked, approval.NOT_YOURS)
            return False
        if refused is None or asked is not inbound or (sentence := await door.refuse(asked)) is None:
            return False
        conversations.tell(asked, sentence)
        return True

    return receive


async def decide(
    inbound: PressReceived | CommandReceived, clerk: Clerk, store: Store, conversations: Conversations
) -> None:
    """Let a person's decision count, if it does, and tell them if it does not."""
    weighed = await clerk.weigh(inbound)
    stored = await store.ingest(inbound, weighed if isinstance(weighed, Decision) else None)
    if stored is not None:
        conversations.take(inbound, stored, await clerk.answer(weighed, stored))
    elif isinstance(inbound, PressReceived):
        conversations.tell_privately(inbound, "")  # delivered again: whoever waits for an answer gets one


async def _keep_tidy(store: Store) -> None:
    while True:
        try:
            await store.prune(KEPT)
        except StoreError as error:
            log.warning("finished events were not forgotten, tomorrow again: %s", error)
        await anyio.sleep(DAY)


async def _forget_tickets(store: Store) -> None:
    """Erase each ticket soon after it has expired. They live equally long, so that a new one is not the next."""
    while True:
        try:
            left = await store.forget_tickets()
        except StoreError as error:
            log.warning("expired tickets were not erased, soon again: %s", error)
            left = None
        await anyio.sleep(max(TICKET_PAUSE, left or 0.0))


async def _expire_approvals(store: Store, patience: float | None) -> None:
    """Deny what nobody has answered in time; where people may take any, nothing is ever over."""
    while patience is not None:
        try:
            left = await store.approvals.expire()
        except StoreError as error:
            log.warning("approvals did not expire, soon again: %s", error)
            left = None
        await anyio.sleep(min(left if left is not None else patience, patience))


async def _stop_in_time(stop: anyio.Event, conversations: Conversations, scope: anyio.CancelScope) -> None:
    await stop.wait()
    conversations.stop()
    await anyio.sleep(GRACE)
    log.warning("stopping with runs in progress; they begin again at the next start")
    scope.cancel()


class _Countdown:
    """Calls ``done`` when it was itself called so many times."""

    def __init__(self, count: int, done: Callable[[], None]) -> None:
        self._count = count
        self._done = done

    def __call__(self) -> None:
        self._count -= 1
        if self._count == 0:
            self._done()


def _platform(configuration: Configuration, name: str, *, pairing: bool) -> tuple[Platform, tuple[str, ...]]:
    """A platform, and what the operator should be told about who may use it."""
    module = import_module(f"adapters.{name}")
    settings = configuration.read(name, module.Settings)
    allow: access.Allow = module.allow(settings)
    spaces = getattr(module, "SPACES", None)
    warnings = access.warnings(allow, users=module.USERS, channels=module.CHANNELS, spaces=spaces, pairing=pairing)
    platform = Platform(name=name, adapter=module.create(settings), allow=allow)
    return platform, tuple(f"[{name}] {warning}" for warning in warnings)


def _agent(configuration: Configuration, settings: AgentSettings, toolbox: Toolbox) -> Agent:
    model = _model(configuration, "model")
    prompt = configuration.path("agent", settings.system_prompt)
    try:
        system = prompt.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        place = configuration.place("agent", "system_prompt")
        msg = f"{place}: the system prompt cannot be read: {error}"
        raise ConfigurationError(msg) from error
    return Agent(
        id=settings.id,
        model=model,
        system=system,
        history_characters=settings.history_characters,
        fallback=_model(configuration, FALLBACK) if FALLBACK in configuration.tables else None,
        tools=toolbox.tools,
        limits=Limits(
            turns=settings.turns, tokens=settings.tokens, deadline=settings.deadline, retries=settings.retries
        ),
    )


def _model(configuration: Configuration, table: str) -> Model:
    module = _chosen(configuration, table, "provider", "gateway.providers")
    settings = configuration.read(table, module.Settings)
    return Model(provider=module.create(settings), name=settings.name, max_tokens=settings.max_tokens)


def _chosen(configuration: Configuration, table: str, key: str, package: str) -> ModuleType:
    """The module of ours that a table names."""
    name, names = configuration.value(table, key), _modules(package)
    if name in names and hasattr(module := import_module(f"{package}.{name}"), "create"):
        return module
    known = [known for known in names if hasattr(import_module(f"{package}.{known}"), "create")]
    place = configuration.place(table, key)
    if name is None:
        msg = f"{place}: [{table}] needs the key {key!r}, one of {', '.join(known)}; add it below this line"
        raise ConfigurationError(msg)
    msg = f"{place}: {key} in [{table}] must be one of {', '.join(known)}, not {name!r}"
    raise ConfigurationError(msg)


def _platforms() -> list[str]:
    return [name for name in _modules("adapters") if name != "loopback"]


def _toolbox(configuration: Configuration) -> Toolbox:
    known = _platforms()
    return open_toolbox(configuration, lambda name: import_module(f"adapters.{name}").USERS if name in known else None)


def _modules(package: str) -> list[str]:
    return [module.name for module in iter_modules(import_module(package).__path__)]
