"""The words of a draft, cut into pieces."""

from gateway.adapter import Capabilities
from gateway.draft import Draft, Piece, closed, smaller
from gateway.journal import Line

EDIT = Capabilities(surface="edit", unit="cp", bubble=20, post=(), edit=())


def line(piece: Piece, number: int) -> Line:
    return Line(
        number=number,
        draft=piece.draft,
        state="sealed",
        kind=piece.kind,
        text=piece.text,
        source=piece.source,
        start=piece.start,
        end=piece.end,
        breaks=piece.breaks,
    )


def test_pieces_stand_for_all_that_was_said() -> None:
    draft = Draft(0, EDIT)
    pieces = [*draft.feed("One two three. Four five six. "), *draft.flush(), *draft.feed("  Seven."), *draft.flush()]
    assert [piece.text for piece in pieces] == ["One two three.", "Four five six.", "  Seven."]
    assert "".join(piece.source for piece in pieces) == "One two three. Four five six.   Seven."
    assert [piece.breaks for piece in pieces] == [(), (30,), (38,)]


def test_where_white_space_alone_was_flushed_the_row_breaks_all_the_same() -> None:
    draft = Draft(0, EDIT)
    pieces = [*draft.feed("    "), *draft.flush(), *draft.feed("One."), *draft.flush()]
    assert [(piece.text, piece.source, piece.breaks) for piece in pieces] == [("One.", "    One.", (4, 8))]


def test_what_was_fixed_does_not_come_out_again_and_the_row_breaks_where_it_broke() -> None:
    first = Draft(0, EDIT)
    pieces = [*first.feed("One."), *first.flush(), *first.feed("Two."), *first.flush()]
    again = Draft(0, EDIT, [line(pieces[0], 0)])
    assert [*again.feed("One.Two."), *again.flush()] == pieces[1:]


def test_a_further_draft_begins_at_its_own_beginning() -> None:
    first = Draft(0, EDIT)
    (piece,) = [*first.feed("One."), *first.flush()]
    second = Draft(1, EDIT, [line(piece, 0)])
    assert [each.text for each in (*second.feed("Two."), *second.flush())] == ["Two."]


def test_words_that_are_taken_back_leave_nothing() -> None:
    draft = Draft(0, EDIT)
    draft.feed("Void. ")
    draft.flush()
    draft.feed("Void")
    draft.rewind()
    assert (draft.length, draft.waits, draft.preview()) == (0, False, "")
    pieces = [*draft.feed("Two."), *draft.flush()]
    assert [(piece.text, piece.start, piece.end) for piece in pieces] == [("Two.", 0, 4)]


def test_what_was_fixed_of_words_that_are_taken_back_may_come_out_again() -> None:
    first = Draft(0, EDIT)
    (piece,) = [*first.feed("One."), *first.flush()]
    draft = Draft(0, EDIT, [line(piece, 0)])
    assert [*draft.feed("One."), *draft.flush()] == []
    draft.rewind()
    assert [*draft.feed("One."), *draft.flush()] == [piece]


def test_a_piece_is_cut_into_smaller_ones_of_which_the_last_stands_for_all() -> None:
    piece = Piece(kind="text", draft=0, text="One two three.", source="One two three. ", end=15, breaks=(15,))
    parts = smaller(piece, EDIT)
    assert [part.text for part in parts] == ["One two", "three."]
    assert [part.source for part in parts] == ["", "One two three. "]
    assert [part.breaks for part in parts] == [(), (15,)]
    assert smaller(Piece(kind="text", draft=0, text="x"), EDIT) == []


def test_a_fence_that_is_open_where_the_words_end_is_closed() -> None:
    assert closed("```sh\nls\n") == "```sh\nls\n```"
    assert closed(" \n") == ""
