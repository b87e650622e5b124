"""The tools that the configuration names, loaded; and who may use and allow them.

Rule 1: whatever is mistyped is named with its line and the mend: a tool, a role, a person's id, a policy. A rule about
        a tool that is not there would be a rule that its writer believes in.
Rule 2: two tools never share a name: one of them would be called in the place of the other.
Rule 3: a module of the user's own is run once, when the gateway is put together, and is trusted as the gateway is.
"""

import inspect
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Annotated, Any, cast
from zlib import crc32

from pydantic import Field

from gateway.access import Ids
from gateway.configuration import STRICT, Configuration, meant
from gateway.error import ConfigurationError
from gateway.redaction import redact
from gateway.role import Roles
from gateway.script import read
from gateway.tool import Tool
from gateway.toolset import Policy, Toolset

Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]

Users = Callable[[str], Ids | None]
"""What the ids of people look like on a platform; none where there is no such platform."""

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")

MEMBERS = (
    "name",
    "description",
    "input_schema",
    "cascades",
    "time_limit",
    "problem",
    "permits",
    "concurrency_safe",
    "needs_approval",
    "call",
)
"""What a ``Tool`` has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSettings:
    """The table ``[tools]``.

    Attributes:
        enable: the tools of ours that the model may call, by name.
        modules: Python files, named from the folder of the configuration, or modules by their dotted names.
        time_limit: seconds that a call may take where its tool names no other.
        only: by tool, the roles whose members may use it.
        files: the folder for what tools give that is too long to be shown to the model whole.
        script: a file with scripted tools, named as the modules are.
    """

    __pydantic_config__ = STRICT

    enable: tuple[str, ...]
    modules: tuple[str, ...]
    time_limit: Seconds
    only: dict[str, tuple[str, ...]]
    files: str
    script: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalSettings:
    """The table ``[approvals]``.

    Attributes:
        policy: by tool, whether a person is asked before it does anything.
        approvers: roles, and people as ``platform:id``, who may decide for others.
        timeout: seconds after which nobody's decision is a denial; none: it waits.
    """

    __pydantic_config__ = STRICT

    policy: dict[str, Policy]
    approvers: tuple[str, ...]
    timeout: Seconds | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolbox:
    """The tools of a gateway, who may use and allow them, and the folder for their files."""

    tools: Toolset
    files: Path
    roles: Roles
    approval_timeout: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """A tool, and where it comes from: the keys of the configuration, and words."""

    tool: Tool
    keys: tuple[str | int, ...]
    origin: str


def open_toolbox(configuration: Configuration, users: Users) -> Toolbox:
    """Load the tools, and read who may do what with them.

    Raises:
        ConfigurationError: names all that is wrong, with its line and the mend.
    """
    settings = configuration.read("tools", ToolSettings)
    approvals = configuration.read("approvals", ApprovalSettings)
    found = [*_shipped(configuration, settings), *_own(configuration, settings), *_scripted(configuration, settings)]
    members = _members(configuration)
    _refuse(_unusable(configuration, found))
    tools = {each.tool.name: each.tool for each in found}
    _refuse(
        [
            *_strange_people(configuration, members, users),
            *_strange_approvers(configuration, approvals, members, users),
            *_strange_tools(configuration, tools, ("tools", "only"), settings.only),
            *_strange_roles(configuration, settings, members),
            *_strange_tools(configuration, tools, ("approvals", "policy"), approvals.policy),
        ]
    )
    return Toolbox(
        tools=Toolset(
            tools=tools,
            policy=approvals.policy,
            only={name: frozenset(roles) for name, roles in settings.only.items()},
            time_limit=settings.time_limit,
        ),
        files=Path(settings.files).expanduser(),
        roles=Roles(
            members={role: frozenset(people) for role, people in members.items()},
            approvers=frozenset(approvals.approvers),
        ),
        approval_timeout=approvals.timeout,
    )


def shipped() -> list[str]:
    """The names of the tools of ours."""
    names = [module.name for module in iter_modules(import_module("gateway.tools").__path__)]
    return [name for name in names if hasattr(import_module(f"gateway.tools.{name}"), "create")]


def _shipped(configuration: Configuration, settings: ToolSettings) -> Iterator[_Found]:
    """The tools of ours that are asked for; the others are not even imported."""
    present = {module.name for module in iter_modules(import_module("gateway.tools").__path__)}
    complaints: list[str] = []
    for number, name in enumerate(settings.enable):
        if name in present and hasattr(module := import_module(f"gateway.tools.{name}"), "create"):
            created: Sequence[Tool] = module.create()
            yield from (_Found(tool=tool, keys=("enable", number), origin=f"gateway.tools.{name}") for tool in created)
            continue
        known = shipped()
        hint = f"{meant(name, known)}; known are {', '.join(known)} (your own go into modules)"
        complaints.append(f"{configuration.place('tools', 'enable', number)}: there is no tool {name!r}{hint}")
    _refuse(complaints)


def _own(configuration: Configuration, settings: ToolSettings) -> Iterator[_Found]:
    """The tools of the user's modules, in the order in which they stand there."""
    for number, name in enumerate(settings.modules):
        place = configuration.place("tools", "modules", number)
        module = _module(configuration, name, place)
        tools = list(_tools_in(module, f"{place}: {name}"))
        if not tools:
            msg = f"{place}: {name} has no tools; put @tool above a function, or make a Tool at the module's top level"
            raise ConfigurationError(msg)
        yield from (_Found(tool=tool, keys=("modules", number), origin=name) for tool in tools)


def _scripted(configuration: Configuration, settings: ToolSettings) -> Iterator[_Found]:
    if settings.script is not None:
        scripted = import_module("gateway.tools.scripted")
        tools: Sequence[Tool] = scripted.tools(read(configuration.path("tools", settings.script)))
        yield from (_Found(tool=tool, keys=("script",), origin=settings.script) for tool in tools)


def _module(configuration: Configuration, name: str, place: str) -> ModuleType:
    """A module of the user's own.

    Raises:
        ConfigurationError: there is none, or running it fails; names the line where it does.
    """
    path = configuration.path("tools", name).absolute() if name.endswith(".py") else None
    if path is not None and not path.is_file():
        msg = f"{place}: there is no file {path}"
        raise ConfigurationError(msg)
    try:
        return import_module(name) if path is None else _run(path)
    except ModuleNotFoundError as error:
        if path is not None or error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise _broken(error, name, place) from error
        msg = f"{place}: there is no module {name!r}; a file beside the configuration ends with .py"
        raise ConfigurationError(msg) from error
    except (Exception, SystemExit) as error:
        raise _broken(error, name, place) from error


def _run(path: Path) -> ModuleType:
    """Run a file, under a name that is nobody else's: dataclasses look themselves up by it."""
    name = f"dragoman_{path.stem}_{crc32(str(path).encode()):08x}"
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        msg = f"{path} is no Python"
        raise ImportError(msg)
    module = sys.modules[name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _broken(error: BaseException, name: str, place: str) -> ConfigurationError:
    frames = traceback.extract_tb(error.__traceback__)
    own = [f"{each.filename}:{each.lineno}" for each in frames if _is_users(each.filename, name)]
    at = own[-1] if own else None
    if isinstance(error, SyntaxError):
        at = f"{error.filename}:{error.lineno}"
    said = redact(f"{type(error).__name__}: {error}")
    return ConfigurationError(f"{place}: {name} cannot be loaded{f', mend it at {at}' if at else ''}: {said}")


def _is_users(file: str, name: str) -> bool:
    """Whether a frame is in the module itself."""
    paths = (
        (Path(name).name,)
        if name.endswith(".py")
        else (f"{name.replace('.', '/')}.py", f"{name.replace('.', '/')}/__init__.py")
    )
    return any(Path(file).parts[-len(parts) :] == parts for parts in (Path(path).parts for path in paths))


def _tools_in(module: ModuleType, place: str) -> Iterator[Tool]:
    """What is a tool among the module's own names; the same one only once."""
    seen: set[int] = set()
    for name, value in vars(module).items():
        if isinstance(value, type | ModuleType) or id(value) in seen:
            continue
        missing = [member for member in MEMBERS if not _has(value, member)]
        if not missing:
            seen.add(id(value))
            yield cast("Tool", value)
        elif not {"name", "input_schema", "call"} & {*missing}:
            msg = f"{place}: {name} is no tool yet, it lacks {', '.join(missing)}; see gateway/tool.py"
            raise ConfigurationError(msg)


def _has(value: object, member: str) -> bool:
    """Whether it has the attribute, without running anything of its own: proxies pretend to have any."""
    try:
        inspect.getattr_static(value, member)
    except AttributeError:
        return False
    return True


def _unusable(configuration: Configuration, found: Iterable[_Found]) -> Iterator[str]:
    """What the model could not be told of."""
    known: dict[str, _Found] = {}
    for each in found:
        tool, place = each.tool, configuration.place("tools", *each.keys)
        schema = cast("object", tool.input_schema)
        if not NAME.fullmatch(str(tool.name)):
            yield f"{place}: the tool {tool.name!r} of {each.origin}: a name is of letters, digits, _ and -, 64 at most"
        elif (other := known.setdefault(tool.name, each)) is not each:
            yield f"{place}: there are two tools {tool.name!r}, of {other.origin} and of {each.origin}; rename one"
        elif not (isinstance(schema, dict) and cast("dict[str, Any]", schema).get("type") == "object"):
            yield f"{place}: the tool {tool.name!r} of {each.origin}: its input_schema has to be of type object"
        elif not str(tool.description).strip():
            yield f"{place}: the tool {tool.name!r} of {each.origin} has no description, by which the model goes"


def _members(configuration: Configuration) -> dict[str, list[str]]:
    """The table ``[roles]``: people by role."""
    members: dict[str, list[str]] = {}
    complaints: list[str] = []
    for role, people in configuration.table("roles").items():
        listed = cast("list[object]", people) if isinstance(people, list) else [None]
        place = configuration.place("roles", role)
        if ":" in role or not role.strip():
            complaints.append(f"{place}: {role!r} is no name of a role: it stands where people do, who have a colon")
        if not all(isinstance(person, str) for person in listed):
            complaints.append(f'{place}: {role} in [roles] is a list of people: ["slack:U012ADA", "telegram:42"]')
        members[role] = [str(person) for person in listed]
    _refuse(complaints)
    return members


def _strange_people(configuration: Configuration, members: Mapping[str, Sequence[str]], users: Users) -> Iterator[str]:
    for role, people in members.items():
        for number, person in enumerate(people):
            if (wrong := _wrong(person, users)) is not None:
                yield f"{configuration.place('roles', role, number)}: {redact(repr(person))} in {role} {wrong}"


def _strange_approvers(
    configuration: Configuration, settings: ApprovalSettings, members: Mapping[str, object], users: Users
) -> Iterator[str]:
    for number, each in enumerate(settings.approvers):
        place = configuration.place("approvals", "approvers", number)
        if ":" in each and (wrong := _wrong(each, users)) is not None:
            yield f"{place}: {redact(repr(each))} in approvers {wrong}"
        elif ":" not in each and each not in members:
            yield f"{place}: {_no_role(each, members)}, nor is it a person, as platform:id"


def _wrong(person: str, users: Users) -> str | None:
    """Why nobody can be called so."""
    platform, colon, identifier = person.partition(":")
    if not colon:
        return "is no person: write platform:id, such as slack:U012ADA"
    if (ids := users(platform)) is None:
        return f"is on no platform: there is no {platform!r}"
    if not re.fullmatch(ids.pattern, identifier):
        return f"is no id: names do not count. {ids.find}"
    return None


def _strange_tools(
    configuration: Configuration, tools: Mapping[str, Tool], keys: tuple[str, str], named: Iterable[str]
) -> Iterator[str]:
    for name in named:
        if name not in tools:
            known = ", ".join(sorted(tools)) or "none"
            hint = f"{meant(name, [*tools])}; there are: {known}"
            yield f"{configuration.place(*keys, name)}: {keys[1]} is about a tool {name!r} that is not there{hint}"


def _strange_roles(
    configuration: Configuration, settings: ToolSettings, members: Mapping[str, object]
) -> Iterator[str]:
    for tool, roles in settings.only.items():
        place = configuration.place("tools", "only", tool)
        if not roles:
            yield f"{place}: nobody may use {tool}; name a role, or take the tool away"
        yield from (f"{place}: {_no_role(role, members)}" for role in roles if role not in members)


def _no_role(role: str, members: Mapping[str, object]) -> str:
    known = f"known are {', '.join(members)}" if members else "add the table [roles]"
    return f"there is no role {role!r}{meant(role, [*members])}; {known}"


def _refuse(complaints: Iterable[str]) -> None:
    if said := "\n".join(complaints):
        raise ConfigurationError(said)
