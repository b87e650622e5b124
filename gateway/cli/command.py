"""What ``dragoman`` can be asked to do: its commands and their options."""

from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from gateway.cli.choice import PLATFORMS, chosen, hint, nearest
from gateway.error import UsageError

app = typer.Typer(
    name="dragoman",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _one_of(*names: str) -> Callable[[str], str]:
    """Reads one of these."""

    def read(written: str) -> str:
        if (name := chosen(written, names)) is None:
            msg = f"{written!r} is not known{hint(written, names)}"
            raise typer.BadParameter(msg)
        return name

    return read


def _choice(what: str, *names: str) -> Any:
    return typer.Option(help=what, parser=_one_of(*names), metavar=f"[{'|'.join(names)}]")


On = Annotated[str, _choice("The platform to play, or all at once.", *PLATFORMS, "all")]
Model = Annotated[str, _choice("Who answers; anthropic needs ANTHROPIC_API_KEY.", "scripted", "anthropic")]
Unit = Annotated[str, _choice("What is counted.", "cp", "utf16", "utf8")]


def _refuse(written: str) -> NoReturn:
    """Say by which option to ask for what somebody wrote without one."""
    near = nearest(written, (*PLATFORMS, "all"))
    meant = f"a platform is named with --on {near}" if near else "a question is asked with --say"
    msg = f"play takes no {written!r}: {meant}"
    raise UsageError(msg)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"dragoman {version('dragoman')}")
        raise typer.Exit


@app.callback()
def dragoman(
    show: Annotated[
        bool, typer.Option("--version", help="Show the version and end.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """A language model's agent in your chat: streamed right, whole, once."""


@app.command()
def run(
    config: Annotated[
        Path | None, typer.Option(help="The configuration; dragoman.toml in the working folder where not given.")
    ] = None,
) -> None:
    """Run the gateway until it is interrupted or told to end."""
    raise typer.Exit(_command("run").main(config))


@app.command()
def pair(
    code: Annotated[str | None, typer.Argument(help="What the stranger was given, such as CDFG-HJKM.")] = None,
    show: Annotated[bool, typer.Option("--list", help="Show the open codes, and who is paired.")] = False,
    revoke: Annotated[
        tuple[str, str] | None, typer.Option(help="Let a user in no more.", metavar="PLATFORM USER")
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="The gateway's configuration; dragoman.toml in the working folder if not given.")
    ] = None,
) -> None:
    """Let a stranger in who has a pairing code, while the gateway runs or not."""
    raise typer.Exit(_command("pair").main(config, code=code, show=show, revoke=revoke))


@app.command()
def chat(
    config: Annotated[
        Path | None, typer.Option(help="The configuration; dragoman.toml in the working folder where not given.")
    ] = None,
    model: Annotated[str | None, typer.Option(help="Another model of the configured provider, by its name.")] = None,
) -> None:
    """Talk to the agent in the terminal: no platform, nothing is kept."""
    raise typer.Exit(_command("chat").main(config, model))


@app.command(context_settings={"allow_extra_args": True})
def play(  # noqa: PLR0913, PLR0917 - a command's options are its function's arguments
    context: typer.Context,
    on: On = "slack",
    say: Annotated[str, typer.Option(help="What the user asks.")] = "Show me how to read a big file in Python.",
    script: Annotated[Path | None, typer.Option(help="What the scripted model answers: a .md or .toml file.")] = None,
    model: Model = "scripted",
    limit: Annotated[int, typer.Option(help="The longest message, in characters.", min=1, max=11_500)] = 800,
    pace: Annotated[float, typer.Option(help="Deltas a second of the scripted model; 0 for all at once.", min=0)] = 200,
    faults: Annotated[
        int | None, typer.Option(help="Let the platform misbehave at random, alike for the same seed.", metavar="SEED")
    ] = None,
    time_scale: Annotated[
        float | None,
        typer.Option(help="Platform seconds in a real one: 1 in the terminal, 20 with --headless.", min=1, max=60),
    ] = None,
    headless: Annotated[bool, typer.Option("--headless", help="Show nothing while it runs.")] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print all that happened as JSON; goes with --headless.")
    ] = False,
    save_svg: Annotated[
        Path | None, typer.Option(help="Keep what the terminal shows as a picture; not with --headless.")
    ] = None,
) -> None:
    """Play one mention on a platform that runs on this machine: no account, no key."""
    if context.args:
        _refuse(context.args[0])
    command = _command("play")
    options = command.Options(
        platforms=PLATFORMS if on == "all" else (on,),
        say=say,
        script=script,
        model=model,
        limit=limit,
        pace=pace,
        faults=faults,
        time_scale=time_scale or (20.0 if headless else 1.0),
        headless=headless,
        json=json,
        save_svg=save_svg,
    )
    raise typer.Exit(command.main(options))


@app.command()
def chunk(  # noqa: PLR0913, PLR0917 - as above
    file: Annotated[Path | None, typer.Argument(help="A Markdown file; standard input where not given.")] = None,
    limit: Annotated[int, typer.Option(help="The longest chunk, in units.")] = 800,
    unit: Unit = "cp",
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
