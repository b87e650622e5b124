"""The command ``dragoman``.

Exit statuses: 0 done; 1 it could not be done, and standard error says why; 2 it was asked wrongly (usage,
configuration, an unreadable file); 130 interrupted. Whoever closes our output ends us by SIGPIPE, as any Unix command.

Each command is a module of its own, loaded when it is called, so that ``dragoman --help`` is quick.
"""

import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import typer

from gateway.cli import pipe
from gateway.error import ConfigurationError, DragomanError, UsageError

app = typer.Typer(
    name="dragoman",
    help="A language model's agent in your chat: streamed right, whole, once.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Run the command and exit with its status."""
    try:
        app()
    except (DragomanError, BaseExceptionGroup) as error:
        leaves = _leaves(error)
        if any(isinstance(leaf, SystemExit) for leaf in leaves):
            pipe.end_now()  # only Rich ends the program from inside, and only where nobody reads what it prints
        if not all(isinstance(leaf, DragomanError) for leaf in leaves):
            raise
        for leaf in leaves:
            typer.echo(f"dragoman: {leaf}", err=True)
        sys.exit(2 if any(isinstance(leaf, ConfigurationError | UsageError) for leaf in leaves) else 1)


@app.command()
def run(
    config: Annotated[
        Path | None, typer.Option(help="The configuration; dragoman.toml in the working folder where not given.")
    ] = None,
) -> None:
    """Run the gateway until it is interrupted or told to end."""
    raise typer.Exit(_command("run").main(config))


@app.command()
def play(
    on: Annotated[Literal["slack"], typer.Option(help="The platform to play.")] = "slack",
    say: Annotated[str, typer.Option(help="What the user asks.")] = "Show me how to read a big file in Python.",
    script: Annotated[Path | None, typer.Option(help="What the scripted model answers: a .md or .toml file.")] = None,
    model: Annotated[
        Literal["scripted", "anthropic"], typer.Option(help="Who answers; anthropic needs ANTHROPIC_API_KEY.")
    ] = "scripted",
    limit: Annotated[int, typer.Option(help="The longest message, in characters.", min=1, max=11_500)] = 800,
    pace: Annotated[float, typer.Option(help="Deltas a second of the scripted model; 0 for all at once.", min=0)] = 200,
    time_scale: Annotated[
        float | None,
        typer.Option(help="Platform seconds in a real one: 1 in the terminal, 20 with --headless.", min=1, max=60),
    ] = None,
    headless: Annotated[bool, typer.Option("--headless", help="Show nothing while it runs.")] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print all that happened as JSON; goes with --headless.")
    ] = False,
    save_svg: Annotated[Path | None, typer.Option(help="Keep what the terminal shows as a picture.")] = None,
) -> None:
    """Play one mention on a platform that runs on this machine: no account, no key."""
    command = _command("play")
    options = command.Options(
        platform=on,
        say=say,
        script=script,
        model=model,
        limit=limit,
        pace=pace,
        time_scale=time_scale or (20.0 if headless else 1.0),
        headless=headless,
        json=json,
        save_svg=save_svg,
    )
    raise typer.Exit(command.main(options))


@app.command()
def chunk(
    file: Annotated[Path | None, typer.Argument(help="A Markdown file; standard input where not given.")] = None,
    limit: Annotated[int, typer.Option(help="The longest chunk, in units.")] = 800,
    unit: Annotated[Literal["cp", "utf16", "utf8"], typer.Option(help="What is counted.")] = "cp",
    plain: Annotated[bool, typer.Option("--plain", help="For a surface that shows plain text: add nothing.")] = False,
    deltas: Annotated[int, typer.Option(help="Feed it in pieces of so many characters; 0 for all at once.", min=0)] = 0,
    explain: Annotated[bool, typer.Option("--explain", help="Show why each cut was made.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the chunks as JSON.")] = False,
) -> None:
    """Cut Markdown into messages."""
    command = _command("chunk")
    options = command.Options(limit=limit, unit=unit, markup=not plain, deltas=deltas, explain=explain, json=json)
    raise typer.Exit(command.main(file, options))


@app.command()
def events(
    file: Annotated[Path, typer.Argument(help="A recorded stream of a model's answer.")],
    provider: Annotated[str, typer.Option(help="Whose protocol it is, such as anthropic_messages.")],
) -> None:
    """Print a recorded provider stream as unified events, one JSON object a line."""
    raise typer.Exit(_command("events").main(file, provider))


def _command(name: str) -> Any:
    return import_module(f"gateway.cli.{name}")


def _leaves(error: BaseException) -> list[BaseException]:
    """The error, or those in a group of them, however deep."""
    if not isinstance(error, BaseExceptionGroup):
        return [error]
    return [leaf for inner in cast("BaseExceptionGroup[BaseException]", error).exceptions for leaf in _leaves(inner)]
