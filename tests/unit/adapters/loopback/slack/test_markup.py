import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.loopback.slack.markup import escape, from_typed, unescape


@given(st.text())
def test_escaping_can_be_undone_and_leaves_no_bracket(text: str) -> None:
    assert unescape(escape(text)) == text
    assert not set("<>") & set(escape(text))


@pytest.mark.parametrize(
    ("typed", "sent"),
    [
        ("a < b && c > d", "a &lt; b &amp;&amp; c &gt; d"),
        ("&lt;", "&amp;lt;"),
        ("<@UBOT> hi <#C1|general> <!here>", "<@UBOT> hi <#C1|general> <!here>"),
        ("see https://example.org/?a=1&b=2 now", "see <https://example.org/?a=1&amp;b=2> now"),
        ("<https://example.org|site>", "<https://example.org|site>"),
        ("List<@nn> x", "List<@nn> x"),
        ("vector<int>", "vector&lt;int&gt;"),
        ("", ""),
    ],
)
def test_what_a_user_types_arrives_as_slack_writes_it(typed: str, sent: str) -> None:
    assert from_typed(typed) == sent
