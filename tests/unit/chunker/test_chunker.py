"""The chunker by example: what each reason looks like, and what its surface does."""

import time

import pytest

from chunker import Chunk, Chunker, Reason, Unit, split


def cut(text: str, limit: int, **options: object) -> list[tuple[str, Reason]]:
    """Cut a text; give the texts with their reasons."""
    return [(chunk.text, chunk.reason) for chunk in split(text, limit, **options)]  # pyright: ignore[reportArgumentType]  # options of many types


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("short", 10, [("short", "end")]),
        ("one two\n\nthree four", 10, [("one two", "block"), ("three four", "end")]),
        ("one two\nthree four", 10, [("one two", "line"), ("three four", "end")]),
        ("One two. Three four", 14, [("One two.", "sentence"), ("Three four", "end")]),
        ("one two three", 10, [("one two", "space"), ("three", "end")]),
        ("onetwothreefour", 10, [("onetwothre", "cluster"), ("efour", "end")]),
        ("```\nabcdefghij\n```", 16, [("```\nabcdefgh\n```", "code"), ("```\nij\n```", "end")]),
        ("- one two\n- three four", 12, [("- one two", "block"), ("- three four", "end")]),
        ("```sh\nls -l\npwd\n```", 16, [("```sh\nls -l\n```", "line"), ("```sh\npwd\n```", "end")]),
    ],
)
def test_each_reason_has_its_cut(text: str, limit: int, expected: list[tuple[str, Reason]]) -> None:
    assert cut(text, limit) == expected


def test_spans_cover_the_source_and_count_over_all_deltas() -> None:
    chunker = Chunker(10)
    chunks = chunker.feed("one two\n\n") + chunker.feed("three four\n") + chunker.flush()
    assert chunks == [
        Chunk(text="one two", start=0, end=9, reason="block"),
        Chunk(text="three four", start=9, end=20, reason="end"),
    ]


def test_a_flushed_chunker_begins_anew_and_its_offsets_go_on() -> None:
    chunker = Chunker(30)
    chunker.feed("```\nopen")
    first = chunker.flush()
    chunker.feed("prose")
    second = chunker.flush()
    assert [chunk.text for chunk in first + second] == ["```\nopen\n```", "prose"]
    assert (first[-1].end, second[0].start, second[0].end) == (8, 8, 13)


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_is_refused(limit: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        split("text", limit)


def test_an_unknown_unit_is_refused_with_those_there_are() -> None:
    with pytest.raises(ValueError, match="cp, utf16, utf8"):
        Chunker(unit="bytes")  # pyright: ignore[reportArgumentType]  # wrong on purpose


@pytest.mark.parametrize(("unit", "limit", "first"), [("cp", 3, "😀a😀"), ("utf16", 3, "😀a"), ("utf8", 5, "😀a")])
def test_the_unit_is_what_is_counted(unit: Unit, limit: int, first: str) -> None:
    assert split("😀a😀a😀a", limit, unit=unit)[0].text == first


def test_a_character_longer_than_the_limit_is_sent_alone() -> None:
    assert [chunk.text for chunk in split("😀😀", 1, unit="utf8")] == ["😀", "😀"]


def test_a_list_goes_on_without_its_indentation() -> None:
    text = "- first\n\n  second\n\n  third"
    assert [chunk.text for chunk in split(text, 12)] == ["- first", "second", "third"]


def test_a_quote_gets_its_marker_again() -> None:
    assert [chunk.text for chunk in split("> one two three four", 12)] == ["> one two", "> three four"]


def test_a_table_gets_its_header_again() -> None:
    text = "| a | b |\n|---|---|\n" + "".join(f"| {n} | x |\n" for n in range(4))
    chunks = split(text, 45)
    assert len(chunks) == 2
    assert all(chunk.text.startswith("| a | b |\n|---|---|\n| ") for chunk in chunks)


def test_a_long_emphasis_is_closed_and_opened_again() -> None:
    assert [chunk.text for chunk in split("**one two three four five**", 16)] == [
        "**one two**",
        "**three four**",
        "**five**",
    ]


def test_an_opener_that_never_closes_is_not_opened_again_where_its_paragraph_ends() -> None:
    chunks = split("**one two three\n\nfour", 12)
    assert chunks[-1].text.endswith("four")
    assert not any(chunk.text.startswith("**three") for chunk in chunks[1:])


@pytest.mark.parametrize(
    "text", ["Ask Dr. Okafor now please", "use e.g. three of them ok", "about 3. of these are left"]
)
def test_a_full_stop_that_ends_no_sentence_is_no_place_to_cut(text: str) -> None:
    assert split(text, 20)[0].reason == "space"


def test_an_indented_code_line_keeps_its_columns_when_cut() -> None:
    chunks = split("text\n\n    abcdefghijklmnop", 14)
    assert [chunk.text for chunk in chunks] == ["text", "    abcdefghij", "    klmnop"]


def test_what_would_be_swallowed_is_kept_apart_by_a_blank_line() -> None:
    chunks = split("1. aaaa aaaa aaaa\n2. # b", 16)
    assert [chunk.text for chunk in chunks] == ["1. aaaa aaaa", "aaaa\n\n2. # b"]


def test_early_releases_whole_blocks() -> None:
    chunker = Chunker(100, early=8)
    assert [chunk.text for chunk in chunker.feed("one two three\n\nfo")] == ["one two three"]
    assert [chunk.text for chunk in chunker.feed("ur\n\n") + chunker.flush()] == ["four"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("half a wo", "half a wo"),
        ("```py\nx = 1", "```py\nx = 1\n```"),
        ("```py\n", ""),
        ("text\n``", "text"),
        ("see [the map](https://ex", "see"),
        ("so **bold", "so"),
        ("text\n\n| a | b |", "text"),
        ("| a | b |\n|---|---|\n| x", "| a | b |\n|---|---|\n| x"),
        ("- one\n- **t", "- one"),
    ],
)
def test_a_preview_holds_back_what_is_half_written(text: str, shown: str) -> None:
    chunker = Chunker(80)
    chunker.feed(text)
    assert chunker.preview() == shown


@pytest.mark.parametrize(
    ("text", "settled"),
    [
        ("half a wo", "half a "),
        ("so **bold text", "so "),
        ("```\nx = 1\ny =", "```\nx = 1\n"),
        ("a\n\n| h |", "a\n\n"),
        ("word", ""),
    ],
)
def test_settled_text_ends_where_nothing_can_change_it(text: str, settled: str) -> None:
    chunker = Chunker(80)
    chunker.feed(text)
    assert text[: chunker.settled()] == settled


def test_fits_is_asked_about_finished_candidates_only() -> None:
    asked: list[str] = []

    def fits(text: str) -> bool:
        asked.append(text)
        return len(text) <= 30

    chunks = split("```\n" + "a line of code\n" * 8 + "```", 60, fits=fits)
    assert all(text.startswith("```\n") and text.endswith("\n```") for text in asked)
    assert all(len(chunk.text) <= 30 for chunk in chunks)


@pytest.mark.parametrize("limit", range(18, 24))
def test_no_cut_falls_between_code_and_what_may_close_it(limit: int) -> None:
    chunks = split("```\naaaa\nbbbb\n`````````\nend", limit)
    assert not any(chunk.text.startswith("```\n`") for chunk in chunks)


FUNCTIONS = "```py\n" + "\n\n".join(f"def f{n}():\n    return {n}" for n in range(4)) + "\n```"


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        (FUNCTIONS, 64),
        (FUNCTIONS.replace("\n", "\r\n"), 72),
        ("".join(f"> {line}\n" for line in FUNCTIONS.split("\n")), 90),
        ("- " + FUNCTIONS.replace("\n", "\n  "), 80),
    ],
)
def test_code_is_cut_at_a_blank_line_if_the_chunk_is_then_half_full(text: str, limit: int) -> None:
    chunks = split(text, limit)
    assert len(chunks) == 2
    assert [chunk.text.count("def") for chunk in chunks] == [chunk.text.count("return") for chunk in chunks] == [2, 2]


def test_code_whose_blank_line_comes_too_early_is_cut_at_its_last_line_end() -> None:
    chunks = split("```\na = 1\n\n" + "b = 2\n" * 9 + "```", 50)
    assert chunks[0].text == "```\na = 1\n\n" + "b = 2\n" * 6 + "```"


@pytest.mark.parametrize("front", ["aaaa aaaa\n\n   ", "- - aaaa aaaa\n\n    "])
@pytest.mark.parametrize("limit", range(13, 19))
def test_of_an_info_string_that_is_cut_no_part_is_repeated(front: str, limit: int) -> None:
    chunks = split(f"{front}10.    ```python title\n{len(front) * ' '}       code", limit)
    assert "".join(char for chunk in chunks[1:] for char in chunk.text if char.isalpha()) == "pythontitlecode"


def test_a_quote_behind_a_list_gets_no_second_blank_line() -> None:
    chunks = split("- one one one one one\n  - two two two two two two two two\n  - three\n\n> [four](/five)", 40)
    assert chunks[-1].text == "- three\n\n> [four](/five)"


@pytest.mark.parametrize("char", "`~*_[#>-=|<\\")
@pytest.mark.parametrize("front", ["", "a ", "```\n", "> "])
def test_one_character_again_and_again_makes_full_chunks(front: str, char: str) -> None:
    chunks = split(front + char * 2000, 100)
    assert len(chunks) < 40


@pytest.mark.parametrize(
    ("text", "limit"), [("\r\n    क्ष    code\n", 7), ("                    |# \r\n", 9), ("a\n\n" + " " * 50 + "\n", 1)]
)
def test_what_is_white_behind_the_last_chunk_is_the_last_chunks(text: str, limit: int) -> None:
    assert split(text, limit)[-1].end == len(text)


HALF_WRITTEN = (
    "[",
    "`",
    "&",
    "&a",
    "*",
    "|",
    "> ",
    "http://",
    "<",
    "<a",
    "\\",
    '[](a "',
    "](",
    "**a ",
    "``\n",
    "- a\n",
)


@pytest.mark.parametrize("unit", HALF_WRITTEN)
@pytest.mark.parametrize("front", ["", "<", "[](a", "```\n", "> "])
def test_preview_and_settled_take_about_as_much_longer_as_the_text_is(front: str, unit: str) -> None:
    def seconds(size: int) -> float:
        chunker = Chunker(size + size // 20)
        chunker.feed(front + unit * (size // len(unit)))
        start = time.process_time()
        chunker.preview()
        chunker.settled()
        return time.process_time() - start

    few = max(min(seconds(550) for _ in range(3)), 0.0005)
    assert min(seconds(11_000) for _ in range(3)) < 200 * few  # 20 times the text; were it quadratic, 400 times as long
