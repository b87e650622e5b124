"""The configuration: a TOML file, read so that every complaint names its line and the mend.

Rule 1: a key that nobody asked for is an error, not a shrug: it is most likely a mistyped one.
Rule 2: a key that the file does not hold is the built-in one. A table of ``WHOLE`` is the file's own, or the built-in
        one whole, for its keys belong together: one model's name and another's limits would make a third.
Rule 3: all that is wrong with a table is said at once.
Rule 4: nothing that stands where a secret is named is repeated: people paste the secret itself there.
"""

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast, get_type_hints
from urllib.parse import urlsplit

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError

from gateway.error import ConfigurationError
from gateway.secret import SECRET_PATTERN

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

FILE_NAME = "dragoman.toml"
"""What the configuration is called where nobody names another file."""

WHOLE = frozenset({"model", "fallback", "store"})
"""The tables whose keys belong together: rule 2."""

Settings = TypeVar("Settings")

STRICT = ConfigDict(extra="forbid")
"""For the ``__pydantic_config__`` of settings: rule 1."""


def _web_address(text: str) -> str:
    """The text, if a request can go there.

    Raises:
        ValueError: it cannot.
    """
    form = "must be an address such as https://host/path/"
    if not (text.isprintable() and " " not in text):
        raise ValueError(form)
    try:
        parts = urlsplit(text)
        _ = parts.port  # looked at only when it is asked for
    except ValueError as error:
        raise ValueError(form) from error
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
        raise ValueError(form)
    if "@" in parts.netloc:
        msg = "must be an address without a user and a password, for these are sent in another way"
        raise ValueError(msg)
    return text


WebAddress = Annotated[str, AfterValidator(_web_address)]
"""``http://`` or ``https://``, a host, perhaps a port and a path, and nothing else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSettings:
    """The table ``[agent]``.

    ``system_prompt`` is a file, named from the folder of the configuration. ``pairing``: strangers who write directly
    get a code, and are let in when the operator confirms it. ``turns``, ``tokens``, ``deadline``
    (seconds) and ``retries`` are a run's ``gateway.limit.Limits``.
    """

    __pydantic_config__ = STRICT

    id: str
    system_prompt: str
    concurrent_runs: Annotated[int, Field(ge=1)]
    history_characters: Annotated[int, Field(ge=0)]
    pairing: bool
    turns: Annotated[int, Field(ge=1)]
    tokens: Annotated[int, Field(ge=1)]
    deadline: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    retries: Annotated[int, Field(ge=0)]


@dataclass(frozen=True, slots=True, kw_only=True)
class PacingSettings:
    """The table ``[pacing]``. ``time_scale`` is 1 but with platforms on loopback, where time may pass faster."""

    __pydantic_config__ = STRICT

    time_scale: Annotated[float, Field(ge=1, le=60)]


class Document:
    """A TOML file and the lines on which its keys stand.

    Args:
        text: its content.
        path: where it came from; other files that it names are looked for beside it.

    Raises:
        ConfigurationError: it is no TOML.
    """

    def __init__(self, text: str, path: Path) -> None:
        self.path = path
        self._text = text
        try:
            self.tables: dict[str, Any] = tomllib.loads(text)
        except (ValueError, RecursionError) as error:
            msg = f"{path}: this is not TOML: {error}"
            raise ConfigurationError(msg) from error

    @classmethod
    def open(cls, path: Path) -> "Document":
        """The document in a file.

        Raises:
            ConfigurationError: it cannot be read, or is no TOML.
        """
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            msg = f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}"
            raise ConfigurationError(msg) from error
        return cls(text, path)

    def place(self, *keys: str | int) -> str:
        """Where a key stands, as ``file:line``; for a key that is not there, the nearest table that holds it."""
        for depth in range(len(keys), 0, -1):
            if (line := self._line(keys[:depth])) is not None:
                return f"{self.path}:{line}"
        return str(self.path)

    def _line(self, keys: Sequence[str | int]) -> int | None:
        """The line of a table's own header; else that on which the statement begins that first gives the key."""
        first: int | None = None
        for statement in self._statements:
            if statement.is_header(keys):
                return statement.line
            if first is None and _holds(statement.known, keys):
                first = statement.line
        return first

    @cached_property
    def _statements(self) -> list["_Statement"]:
        """The statements in their order, found by reading ever more lines: one ends where the lines so far are TOML."""
        lines = self._text.replace("\r\n", "\n").split("\n")
        statements: list[_Statement] = []
        start = 0
        for end in range(1, len(lines) + 1):
            try:
                known = tomllib.loads("\n".join(lines[:end]))
            except tomllib.TOMLDecodeError:
                continue  # the middle of a value that takes several lines
            statements.append(_Statement(line=start + 1, text="\n".join(lines[start:end]), known=known))
            start = end
        return statements


@dataclass(frozen=True, slots=True, kw_only=True)
class _Statement:
    """A header, a key with its value, a comment or an empty line; and all that is known after it."""

    line: int
    text: str
    known: dict[str, Any]

    def is_header(self, keys: Sequence[str | int]) -> bool:
        """Whether it opens just this table."""
        empty: dict[str | int, Any] = {}
        return self.text.lstrip().startswith("[") and tomllib.loads(self.text) == reduce(
            lambda inner, key: {key: inner}, reversed(keys), empty
        )


class Configuration:
    """What the user wrote, over what is built in.

    Args:
        written: none where the user wrote nothing; complaints then name the file in which to begin.
        defaults: what is built in.
    """

    def __init__(self, written: Document | None, defaults: Document) -> None:
        self.written = written is not None
        self._written = written or Document("", Path(FILE_NAME))
        self._defaults = defaults

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of the tables that the user wrote."""
        return tuple(self._written.tables)

    def place(self, table: str, *keys: str | int) -> str:
        """Where something stands, as ``file:line``."""
        return self._holder(table, *keys[:1]).place(table, *keys)

    def table(self, name: str) -> dict[str, Any]:
        """A whole table, what is built in included."""
        return dict(self._content(name))

    def value(self, table: str, key: str) -> object:
        """A single value; none where it is absent."""
        return self._content(table).get(key)

    def read(self, table: str, kind: type[Settings]) -> Settings:
        """A table as the settings that somebody asks for.

        Raises:
            ConfigurationError: a key is unknown, missing or of the wrong kind; names each with its line and the mend.
        """
        try:
            return TypeAdapter(kind).validate_json(json.dumps(self._content(table), default=str), strict=True)
        except ValidationError as error:
            hints = get_type_hints(kind, include_extras=True)
            complaints = [self._complaint(table, detail, hints) for detail in error.errors()]
            # from None: the cause would show the input in every traceback (rule 4).
            raise ConfigurationError("\n".join(complaints)) from None

    def path(self, table: str, name: str) -> Path:
        """A file that a table names, seen from the folder of the configuration that names it.

        Raises:
            ConfigurationError: it can be no file's name.
        """
        written, built_in = _table(self._written, table).values(), _table(self._defaults, table).values()
        holder = self._defaults if name in built_in and name not in written else self._written
        try:
            if "\0" not in name:
                return holder.path.parent / Path(name).expanduser()
        except RuntimeError:
            pass  # it begins with the home folder of somebody who has none
        key = next((key for key, value in _table(holder, table).items() if value == name), "")
        msg = f"{holder.place(table, key)}: {name!r} in [{table}] is no name of a file"
        raise ConfigurationError(msg)

    def refuse_unknown_tables(self, known: Sequence[str]) -> None:
        """Make sure that the user wrote no table that nobody reads.

        Raises:
            ConfigurationError: names each with its line, and the one that was probably meant.
        """
        complaints = [
            f"{self.place(name)}: unknown table [{name}]{meant(name, known)}; known are {', '.join(sorted(known))}"
            for name in self.tables
            if name not in known
        ]
        if complaints:
            raise ConfigurationError("\n".join(complaints))

    def _holder(self, table: str, *keys: str | int) -> Document:
        """Where a table stands, or a key of it: in what is built in only where the file is silent."""
        written, built_in = _table(self._written, table), _table(self._defaults, table)
        completed = table not in WHOLE and any(key in built_in and key not in written for key in keys)
        silent = table in self._defaults.tables and table not in self._written.tables
        return self._defaults if completed or silent else self._written

    def _content(self, table: str) -> dict[str, Any]:
        if not isinstance(self._written.tables.get(table, {}), dict):
            msg = f"{self.place(table)}: {table} is a table; write [{table}] and its keys below it"
            raise ConfigurationError(msg)
        if table in WHOLE and table in self._written.tables:
            return _table(self._written, table)
        return _table(self._defaults, table) | _table(self._written, table)

    def _complaint(self, table: str, detail: "ErrorDetails", hints: Mapping[str, object]) -> str:
        keys = [str(key) for key in detail["loc"]]
        place = self._holder(table, *detail["loc"][:1]).place(table, *detail["loc"])
        name = ".".join(keys)
        match detail["type"]:
            case "unexpected_keyword_argument":
                hint = meant(name, list(hints))
                return f"{place}: unknown key {name!r} in [{table}]{hint}; remove it or correct its name"
            case "missing":
                return f"{place}: [{table}] needs the key {name!r}; add it below this line"
            case _ if SECRET_PATTERN in repr(hints.get(keys[0])):
                return f"{place}: {name} in [{table}]: name where the secret is, as env:VARIABLE or file:PATH"
            case "value_error":
                return f"{place}: {name} in [{table}] {detail['msg'].removeprefix('Value error, ')}"
            case _:
                return f"{place}: {name} in [{table}]: {detail['msg']}, not {detail['input']!r}"


def _table(document: Document, name: str) -> dict[str, Any]:
    """What a document holds of a table; nothing where it has none, or something else in its place."""
    content = document.tables.get(name)
    return cast("dict[str, Any]", content) if isinstance(content, dict) else {}


def meant(name: str, known: Sequence[str]) -> str:
    """A few words on what was probably meant by a mistyped name; nothing where nothing is near."""
    near = get_close_matches(name, known, n=1)
    return f", did you mean {near[0]!r}?" if near else ""


def _holds(tables: object, keys: Sequence[str | int]) -> bool:
    for key in keys:
        try:
            tables = tables[key]  # type: ignore[index] - whatever cannot be indexed does not hold the key
        except (KeyError, IndexError, TypeError):
            return False
    return True
