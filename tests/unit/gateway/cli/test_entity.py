import io

import pytest
from rich.console import Console
from rich.style import Style

from gateway.cli.entity import STYLES, marked

WIDE = 200


def entity(kind: str, offset: int, length: int, **more: object) -> dict[str, object]:
    return {"type": kind, "offset": offset, "length": length, **more}


def printed(text: str, *entities: dict[str, object]) -> str:
    console = Console(file=(written := io.StringIO()), width=WIDE)
    console.print(marked(text, entities))
    return written.getvalue()


@pytest.mark.parametrize(
    "text",
    [
        'if __name__ == "__main__":\n    print(1)\n\n\n    print(2)\n',
        "# no heading\n- no *list*\n- [no](link) <b>\n1) one\n1) two\n[red]no style[/red] :smile:",
        "a | b\n--+--\n1 | 2",
    ],
)
def test_the_text_stands_as_it_was_sent(text: str) -> None:
    assert [line.rstrip() for line in printed(text).splitlines()] == text.split("\n")
    assert marked(text, [entity("pre", 0, len(text))]).plain == text


@pytest.mark.parametrize("kind", STYLES)
def test_each_kind_is_to_be_seen_just_where_it_stands(kind: str) -> None:
    console = Console()
    shown = marked("😀 ab\x07c d", [entity(kind, 3, 4)])
    looks = [shown.get_style_at_offset(console, at) for at in range(len(shown))]
    assert shown.plain == "😀 abc d"
    assert looks == [*[Style.null()] * 2, *[STYLES[kind]] * 3, *[Style.null()] * 2]


def test_entities_in_one_another_are_seen_together_and_a_link_can_be_followed() -> None:
    link = entity("text_link", 0, 1, url="https://host.example/")
    look = marked("ab", [entity("bold", 0, 2), link]).get_style_at_offset(Console(), 0)
    assert (look.bold, look.underline, look.link) == (True, True, "https://host.example/")


def test_what_is_unknown_or_reaches_too_far_changes_nothing_else() -> None:
    shown = marked("ab", [entity("hologram", 0, 2), entity("bold", 1, 9), entity("bold", 7, 1), {"type": "bold"}])
    assert [shown.get_style_at_offset(Console(), at).bold for at in (0, 1)] == [None, True]
