"""Tools made of functions: ``@tool`` on one that is typed and says in its docstring what it does.

Rule 1: what the model may give is what the signature says, and nothing beside it; the function is never called with
        anything else.
Rule 2: a tool of which nothing is said is unsafe, so it runs alone and a person is asked first. One that is safe for an
        input asks nobody, unless it is told to.
Rule 3: what cannot be a tool is told so where it is decorated, with what to do.
"""

import inspect
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn, cast, get_type_hints, overload

import anyio
from anyio.lowlevel import RunVar
from pydantic import BaseModel, ConfigDict, Field, PydanticUserError, ValidationError, create_model
from pydantic.errors import PydanticInvalidForJsonSchema
from pydantic_core import to_json

from gateway.error import DragomanError
from gateway.event import JsonObject
from gateway.tool import Context, User

THREADS = 40
"""How many functions that are not async may run at once; one that was given up counts until it really ends."""

DONE = "Done."
"""What the model reads of a function that returns nothing."""

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_PROBLEMS = 5
_threads: RunVar[anyio.CapacityLimiter] = RunVar("threads of tools")

Anything = Callable[..., Any]
OfInput = Callable[[JsonObject], bool]
OfUser = Callable[[User, JsonObject], bool]


class ToolError(DragomanError):
    """A function cannot be a tool as it is written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A tool that is a function; ``function`` is the function itself.

    What is asked about an input (``safe``, ``approval``, ``allows``) is given it with the defaults filled in.
    """

    name: str
    description: str
    input_schema: JsonObject
    cascades: bool
    time_limit: float | None
    function: Anything
    model: type[BaseModel]
    context: str | None
    safe: bool | OfInput
    approval: bool | OfUser | None
    allows: OfUser | None

    def problem(self, input: JsonObject) -> str | None:  # noqa: A002 - the field's word
        """Why an input does not satisfy the schema, in a sentence for the model; none where it does."""
        try:
            self.model.model_validate_json(to_json(input), strict=True)
        except ValidationError as error:
            found = error.errors(include_url=False, include_input=False, include_context=False)
            places = [f"{'.'.join(map(str, each['loc'])) or 'the whole'}: {each['msg']}" for each in found[:_PROBLEMS]]
            return f"The input of {self.name} does not fit its schema. {'; '.join(places)}."
        return None

    def permits(self, user: User, input: JsonObject) -> bool:  # noqa: A002 - as above
        """Whether this user may have it do this at all."""
        return self.allows is None or self.allows(user, self._whole(input))

    def concurrency_safe(self, input: JsonObject) -> bool:  # noqa: A002 - as above
        """Whether it changes nothing with this input."""
        return self.safe if isinstance(self.safe, bool) else self.safe(self._whole(input))

    def needs_approval(self, user: User, input: JsonObject) -> bool:  # noqa: A002 - as above
        """Whether a person has to allow this first."""
        match self.approval:
            case None:
                return not self.concurrency_safe(input)
            case bool(asks):
                return asks
            case asks:
                return asks(user, self._whole(input))

    async def call(self, input: JsonObject, context: Context) -> str:  # noqa: A002 - as above
        """Call the function; in a thread where it is not async, and abandoned there when it is cancelled.

        What is no string becomes JSON.
        """
        given = self.model.model_validate_json(to_json(input), strict=True)
        arguments = {field.alias or name: getattr(given, name) for name, field in self.model.model_fields.items()}
        if self.context is not None:
            arguments[self.context] = context
        if inspect.iscoroutinefunction(self.function):
            said = await self.function(**arguments)
        else:
            work = partial(self.function, **arguments)
            said = await anyio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=_limiter())
            if inspect.isawaitable(said):  # it was async below a decorator
                said = await cast("Awaitable[object]", said)
        match said:
            case str():
                return said
            case None:
                return DONE
            case _:
                return to_json(said, fallback=str).decode()

    def _whole(self, given: JsonObject) -> JsonObject:
        return self.model.model_validate_json(to_json(given), strict=True).model_dump(mode="json", by_alias=True)


@overload
def tool(function: Anything, /) -> Function: ...


@overload
def tool(
    *,
    safe: bool | OfInput = False,
    approval: bool | OfUser | None = None,
    cascades: bool = False,
    time_limit: float | None = None,
    permits: OfUser | None = None,
) -> Callable[[Anything], Function]: ...


def tool(
    function: Anything | None = None,
    /,
    *,
    safe: bool | OfInput = False,
    approval: bool | OfUser | None = None,
    cascades: bool = False,
    time_limit: float | None = None,
    permits: OfUser | None = None,
) -> Function | Callable[[Anything], Function]:
    """Make a tool of a typed function, async or not: ``@tool`` or ``@tool(safe=True)``.

    Its name is the function's, its description the docstring, its schema the signature. A parameter of type
    ``Context`` is given the call's, and is not in the schema.

    Args:
        function: what it does.
        safe: whether it changes nothing, so that it may run beside others; or a function that says so of an input.
        approval: whether a person is asked first; or what says so of a user and an input. Without it, a call that is
            not safe asks.
        cascades: whether its failure makes later calls of such tools pointless.
        time_limit: seconds that a call may take, where it is not the configured number.
        permits: what says whether a user may have it do something at all; without it, everybody may.

    Raises:
        ToolError: the function cannot be a tool; the message says what to do.
    """
    if function is None:
        return partial(_made, safe=safe, approval=approval, cascades=cascades, time_limit=time_limit, permits=permits)
    return _made(function, safe=safe, approval=approval, cascades=cascades, time_limit=time_limit, permits=permits)


def _made(
    function: Anything,
    *,
    safe: bool | OfInput,
    approval: bool | OfUser | None,
    cascades: bool,
    time_limit: float | None,
    permits: OfUser | None,
) -> Function:
    name = str(getattr(function, "__name__", type(function).__name__))
    if not _NAME.fullmatch(name):
        _refuse(name, "its name is not made of 1 to 64 letters, digits, _ and -: use def, with such a name")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        _refuse(name, "it yields: return the whole instead")
    description = inspect.getdoc(function) if hasattr(function, "__name__") else None
    if not description or not description.strip():
        _refuse(name, "it has no docstring: say there what it does, for the model")
    if time_limit is not None and not time_limit > 0:
        _refuse(name, "its time_limit is not above 0: give it in seconds")
    model, context = _model(name, function)
    return Function(
        name=name,
        description=description,
        input_schema=_schema(name, model),
        cascades=cascades,
        time_limit=time_limit,
        function=function,
        model=model,
        context=context,
        safe=safe,
        approval=approval,
        allows=permits,
    )


def _model(name: str, function: Anything) -> tuple[type[BaseModel], str | None]:
    """What validates an input, and the parameter that is given the context. Fields are numbered, as any name may be."""
    try:
        hints = get_type_hints(function, include_extras=True)
    except (NameError, TypeError) as error:
        _refuse(name, f"its annotations cannot be read ({error}): import their names where the module is loaded")
    context: str | None = None
    fields: dict[str, Any] = {}
    for number, parameter in enumerate(inspect.signature(function).parameters.values()):
        if parameter.kind not in {parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY}:
            _refuse(name, f"{parameter} is not given by its name: name each parameter, without *, ** and /")
        if parameter.name not in hints:
            _refuse(name, f"its parameter {parameter.name} has no type: annotate it")
        if hints[parameter.name] is Context:
            if context is not None:
                _refuse(name, "it takes two contexts: one is enough")
            context = parameter.name
            continue
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[f"field_{number}"] = (hints[parameter.name], Field(default, alias=parameter.name))
    try:
        return create_model(
            name, __config__=ConfigDict(extra="forbid", arbitrary_types_allowed=False), **fields
        ), context
    except PydanticUserError as error:
        _refuse(name, f"a parameter is of a type that no JSON can be ({error.message}): use one that pydantic knows")


def _schema(name: str, model: type[BaseModel]) -> JsonObject:
    """The schema without the titles, which say what the names say."""
    try:
        schema = model.model_json_schema(by_alias=True)
    except PydanticInvalidForJsonSchema as error:
        _refuse(name, f"a parameter has no JSON Schema ({error.message}): use a plainer type")
    for part in (schema, *schema.get("properties", {}).values()):
        part.pop("title", None)
    schema.setdefault("properties", {})
    return schema


def _limiter() -> anyio.CapacityLimiter:
    try:
        return _threads.get()
    except LookupError:
        limiter = anyio.CapacityLimiter(THREADS)
        _threads.set(limiter)
        return limiter


def _refuse(name: str, why: str) -> NoReturn:
    msg = f"{name} cannot be a tool: {why}."
    raise ToolError(msg)
