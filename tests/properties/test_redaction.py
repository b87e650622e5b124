"""No secret survives redaction, and nothing else is touched by it."""

import json
from urllib.parse import quote

from hypothesis import given
from hypothesis import strategies as st

from gateway.redaction import redact

LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ0123456789"
SECRET = st.text(LETTERS, min_size=12, max_size=40)
PREFIX = st.sampled_from(["xoxb-", "xoxp-", "xapp-1-", "xoxe-", "xoxe.xoxp-1-", "sk-ant-api03-", "sk-", "sk-proj-"])
# No prefix, no name of a secret and no address can come of these letters.
PLAIN = st.text("abcdefghij \n\t.,;()[]{}'\"<>|é😀…", max_size=40)
# What a token may stand behind: "sk-" behind a letter is the end of a word.
BEFORE = st.sampled_from(["", " ", "env:", "file:", "=", "'", '"', "(", "/", "\n", "@", ","])
BEHIND = st.sampled_from(["", " ", "'", '"', ")", "\n", ". ", ", ", "; ", "]", "<"])


@st.composite
def tokens(draw: st.DrawFn) -> tuple[str, str]:
    """A token, and what of it must not be seen."""
    secret = draw(SECRET)
    return draw(PREFIX) + secret, secret


@given(pieces=st.lists(st.tuples(PLAIN, BEFORE, tokens(), BEHIND), max_size=4), end=PLAIN)
def test_no_token_survives_and_the_text_around_it_does(
    pieces: list[tuple[str, str, tuple[str, str], str]], end: str
) -> None:
    text = "".join(f"{plain} {before}{token}{behind} " for plain, before, (token, _), behind in pieces) + end
    expected = "".join(
        f"{plain} {before}{shown(token, secret)}{behind} " for plain, before, (token, secret), behind in pieces
    )
    assert redact(text) == expected + end


def shown(token: str, secret: str) -> str:
    kind = token.removesuffix(secret)
    return {"xapp-1-": "xapp-", "xoxe.xoxp-1-": "xoxe.xoxp-", "sk-ant-api03-": "sk-ant-", "sk-proj-": "sk-"}.get(
        kind, kind
    ) + "…"


@given(token=tokens(), lines=st.booleans())
def test_no_token_survives_another_way_of_writing(token: tuple[str, str], lines: bool) -> None:
    text, secret = token
    held = f"a\n{text}\nb" if lines else text
    for written in (repr(held), repr([held]), repr(held.encode()), json.dumps({"a": held}), quote(f"x={held}")):
        assert secret not in redact(written)


@given(
    form=st.sampled_from(
        [
            "Authorization: Bearer {}",
            "{{'Authorization': 'Bearer {}'}}",
            "<CIMultiDict('Authorization': 'Basic {}')>",
            '{{"x-api-key": "{}"}}',
            "wss://host/link/?ticket={}&app_id=A1",
            "GET /?ticket={} HTTP/1.1",
            "https://ada:{}@host/",
            "https://{}@host/",
            "token={}",
        ]
    ),
    secret=SECRET,
    before=PLAIN,
    behind=PLAIN,
)
def test_nothing_survives_that_is_named_as_a_secret(form: str, secret: str, before: str, behind: str) -> None:
    assert secret not in redact(f"{before} {form.format(secret)} {behind}")


@given(text=st.one_of(st.text(), st.text("xoapbsk-ent:/@.='\" 1Aé…")))
def test_redacting_again_changes_nothing(text: str) -> None:
    assert redact(redact(text)) == redact(text)


@given(text=PLAIN)
def test_a_text_without_a_secret_stays_as_it_is(text: str) -> None:
    assert redact(text) == text
