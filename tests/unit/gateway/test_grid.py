from gateway.grid import BOX, WIDEST, columns


def test_the_rule_is_as_wide_as_its_columns_and_the_last_one_is_not_filled_up() -> None:
    cell = "a streaming parser such as ijson"
    assert columns([["You have", "Read it by", "Memory"], ["logs", cell, "a value"], ["b", "c", "d"]], lines=BOX) == (
        "You have │ Read it by                       │ Memory\n"
        "─────────┼──────────────────────────────────┼────────\n"
        "logs     │ a streaming parser such as ijson │ a value\n"
        "b        │ c                                │ d"
    )


def test_one_very_long_cell_pushes_its_own_row_aside_and_no_other() -> None:
    head, rule, long, short = columns([["a", "b"], ["x" * 100, "y"], ["z", "w"]]).split("\n")
    assert (head, short) == (f"a{' ' * (WIDEST - 1)} | b", f"z{' ' * (WIDEST - 1)} | w")
    assert rule == f"{'-' * WIDEST}-+--"
    assert long == f"{'x' * 100} | y"


def test_a_table_that_would_be_huge_is_not_filled_up_and_keeps_what_looks_like_a_line() -> None:
    rows = [["x" * 40] * 40, *([["a"] * 39 + ["|"]] * 40), ["a", "", "b", "", ""]]
    lines = columns(rows).split("\n")
    assert lines[1] == " | ".join(["a"] * 39 + ["|"])
    assert lines[-1] == "a |  | b"
