"""HTML as text for a model."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.tools.hypertext import text_of

HERE = "https://example.org/tides/today"


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("", ""),
        ("plain &amp; &lt;b&gt; 2 < 3 <", "plain & <b> 2 < 3 <"),
        ("<title>Low\n water</title><p>At   six.</p>", "Low water\n\nAt six."),
        ("<h1>A <i>b</i></h1><h3>c</h3>d", "# A b\n\n### c\n\nd"),
        ("<p>a<br>b</p><p>c</p>", "a\nb\n\nc"),
        ("<ul><li>a<li>b</ul>c", "- a\n- b\n\nc"),
        ("<pre>  a\n   b &lt;</pre>c", "```\n  a\n   b <\n```\nc"),
        ("<table><tr><th>a</th><td>b</td></tr><tr><td>c</td></tr></table>", "a | b |\nc |"),
        (
            '<a href="/x?a=1&amp;b=2">x</a>, <a href=y>y</a>',
            "[x](https://example.org/x?a=1&b=2), [y](https://example.org/tides/y)",
        ),
        ('<a href="#a">a</a> <a href="mailto:a@b">b</a> <a href="javascript:x()">c</a> <a>d</a>', "a b c d"),
        ('<a href="https://e.org/ (">e</a> <a href="http://[">f</a>', "e f"),
        ("<script>if (a < b) '</p>'</script>a<style>p > a {}</style>b", "ab"),
        ("<SCRIPT>a</scripty></SCRIPT >b", "b"),
        ("a<noscript>b<p>c</noscript><svg><svg><a>d</a></svg>e</svg>f", "af"),
        ('<img alt="a boat" src=x><img alt="">', "[a boat]"),
        ("a<!-- <p> --->b<!doctype html><?php x ?>c</ d>e", "abce"),
        ('<p title="a > b" data-x=\'"\' hidden>a</p>', "a"),
        ("a<p title='>b", "a"),
        ("a<!-- b", "a"),
        ("a<script>b", "a"),
        ("&#99999999999;&#x110000000;&#65;&#xd800;&#0;", "\ufffd\ufffdA\ufffd\ufffd"),
        ("&#" + "9" * 5000 + ";", "\ufffd"),
        ("<textarea><b></textarea>a\0b", "ab"),
        ("<title>a</title><svg><title>b</title></svg>c", "a\n\nc"),
    ],
)
def test_what_there_is_to_read_is_there_and_nothing_else(page: str, text: str) -> None:
    assert text_of(page, HERE) == text


pieces = st.sampled_from(
    [
        "<",
        ">",
        "</",
        "<a ",
        "<a href='",
        "<p>",
        "</p>",
        "<!--",
        "-->",
        "<script>",
        "</script",
        "<pre>",
        "</pre>",
        "<svg>",
        "</svg>",
        "<title>",
        "</title>",
        '"',
        "'",
        "=",
        "&",
        "&#",
        ";",
        "\n",
        " ",
        "x",
        "<li>",
        "<td>",
        "</td>",
        "<h1>",
    ]
)


@given(st.text() | st.lists(pieces).map("".join))
def test_no_page_at_all_makes_it_fail(page: str) -> None:
    text = text_of(page, HERE)
    assert text == text.strip()
    assert "\n\n\n" not in text or "```" in text


def spent(page: str) -> float:
    begun = time.process_time()
    text_of(page, HERE)
    return time.process_time() - begun


@pytest.mark.parametrize(
    "piece",
    [
        "<",
        "<a ",
        '<a b="',
        "<a b='\"",
        "<!--",
        "</",
        "</x",
        "<![CDATA[",
        "&",
        "&#1",
        "<script>",
        "<script></",
        "<a b=",
        "<a =",
        "<svg>",
        "<title>",
        "<a href=/x>y",
        "<pre>",
        "<a b" + " " * 50,
        "</script",
        "<td>",
        "\n",
        "<h1>",
    ],
)
def test_twice_the_page_is_not_much_more_than_twice_the_work(piece: str) -> None:
    once = piece * (100_000 // len(piece))
    short, long = (min(spent(once * times) for _ in range(3)) for times in (1, 4))
    assert long < 4 * 3 * short + 0.05
