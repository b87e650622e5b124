"""A table's columns begin below each other, whatever stands in them."""

from hypothesis import given
from hypothesis import strategies as st

from gateway.grid import ASCII, BOX, LARGEST, WIDEST, Lines, Side, columns
from gateway.width import width

WORDS = st.text(st.characters(exclude_categories=["C", "M", "Z"], exclude_characters="|│┼+-"), max_size=8)
CLUSTERS = st.sampled_from(["会议", "e\u0301", "👍🏽", "👩‍👩‍👧", "🇩🇪", "❤️", "1️⃣", ""])
CELLS = st.lists(WORDS | CLUSTERS, max_size=5).map(lambda words: " ".join(filter(None, words)))
ROWS = st.lists(st.lists(CELLS, min_size=1, max_size=4), min_size=1, max_size=5)
SIDES = st.lists(st.sampled_from(["left", "right", "center"]), max_size=5)


@given(ROWS, SIDES, st.sampled_from([ASCII, BOX]))
def test_the_columns_of_a_table_begin_below_each_other(rows: list[list[str]], sides: list[Side], lines: Lines) -> None:
    rows = [[cell if width(cell) <= WIDEST else "" for cell in row] for row in rows]
    head, rule, *body = columns(rows, sides, lines).split("\n")
    crossings = [len(part) for part in rule.split(lines.crossing)[:-1]]
    assert [[width(part) for part in line.split(lines.upright)[:-1]] for line in (head, *body)] == [
        crossings for _ in rows
    ]


@given(ROWS, SIDES, st.integers(1, 400))
def test_no_cell_is_lost_and_nothing_is_filled_up_without_end(
    rows: list[list[str]], sides: list[Side], times: int
) -> None:
    table = rows * times
    shown = columns(table, sides)
    lines = [line for line in shown.split("\n") if not line or line.strip("-+")]
    assert [[cell.strip() for cell in line.split("|") if cell.strip()] for line in lines] == [
        [cell for cell in row if cell] for row in table
    ]
    assert len(shown) <= sum(len(cell) + 3 for row in table for cell in row) + 3 * len(table) * len(rows) + 2 * LARGEST
