from typing import Any

import pytest

from adapters.slack.entity import escape, unescape
from adapters.slack.render import INERT, inert, render, undo
from gateway.address import Address
from gateway.operation import (
    Button,
    DeleteMessage,
    EditMessage,
    MarkWaiting,
    PostMessage,
    TellPrivately,
    UnmarkWaiting,
)
from tests.cases import case

CHANNEL = Address(platform="slack", account="T1", channel="C1")
THREAD = Address(platform="slack", account="T1", channel="C1", thread="17.1")


def test_a_post_goes_as_markdown_without_previews_and_pings() -> None:
    call = render(PostMessage(address=THREAD, text="**hi** & <b>"))
    assert call.method == "chat.postMessage"
    assert call.arguments == {
        "channel": "C1",
        "thread_ts": "17.1",
        "markdown_text": "**hi** & <b>",
        "unfurl_links": False,
        "unfurl_media": False,
        "parse": "none",
        "link_names": False,
    }


def test_a_post_outside_of_threads_names_none() -> None:
    assert "thread_ts" not in render(PostMessage(address=CHANNEL, text="hi")).arguments


def test_an_edit_names_the_message_and_nothing_that_the_method_does_not_take() -> None:
    call = render(EditMessage(address=THREAD, message_id="18.2", text="**hi**"))
    assert call.method == "chat.update"
    assert call.arguments == {
        "channel": "C1",
        "ts": "18.2",
        "markdown_text": "**hi**",
        "parse": "none",
        "link_names": False,
    }


def test_a_nonce_goes_as_metadata_and_none_goes_without() -> None:
    named = render(PostMessage(address=CHANNEL, text="hi", nonce="n1")).arguments
    assert named["metadata"] == {"event_type": "dragoman", "event_payload": {"nonce": "n1"}}
    assert "metadata" not in render(PostMessage(address=CHANNEL, text="hi")).arguments


def test_a_deletion_names_the_message() -> None:
    call = render(DeleteMessage(address=THREAD, message_id="18.2"))
    assert (call.method, call.arguments) == ("chat.delete", {"channel": "C1", "ts": "18.2"})
    assert call.fits


def test_the_mark_stands_on_the_message() -> None:
    arguments = {"channel": "C1", "timestamp": "17.1", "name": "hourglass_flowing_sand"}
    mark = render(MarkWaiting(address=THREAD, message_id="17.1"))
    assert (mark.method, mark.arguments) == ("reactions.add", arguments)
    unmark = render(UnmarkWaiting(address=THREAD, message_id="17.1"))
    assert (unmark.method, unmark.arguments) == ("reactions.remove", arguments)


def test_without_markup_the_text_is_shown_as_it_stands() -> None:
    arguments = render(PostMessage(address=CHANNEL, text="*a* <b> &amp;", markup=False)).arguments
    assert (arguments["text"], arguments["mrkdwn"]) == ("*a* &lt;b&gt; &amp;amp;", False)
    assert "markdown_text" not in arguments
    edited = render(EditMessage(address=CHANNEL, message_id="1.1", text="<b>", markup=False)).arguments
    assert edited["text"] == "&lt;b&gt;"
    assert not {"markdown_text", "mrkdwn"} & edited.keys()


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("<!channel>", f"<{INERT}!channel>"),
        ("<@U1> <#C1|x>", f"<{INERT}@U1> <{INERT}#C1|x>"),
        ("`<!here>`", f"`<{INERT}!here>`"),
        (r"<\!here>", rf"<{INERT}\!here>"),
        ("<\0!here>", f"<{INERT}\0!here>"),
        ("<\u200b!here> <\ufeff@U1>", f"<{INERT}\u200b!here> <{INERT}\ufeff@U1>"),
        ("< #1, <\n# title", "< #1, <\n# title"),
        ("<<!here>", f"<<{INERT}!here>"),
        (f"<{INERT}!here>", f"<{INERT}{INERT}!here>"),
        ("a < b, <b>, @here, # title, <https://example.org>", "a < b, <b>, @here, # title, <https://example.org>"),
    ],
    ids=str,
)
def test_nothing_pings_and_nothing_else_changes(text: str, safe: str) -> None:
    assert inert(text) == safe
    assert undo(safe) == text


@pytest.mark.parametrize(
    ("text", "markup", "fits"),
    [
        ("a" * 12_000, True, True),
        ("a" * 12_001, True, False),
        ("<!" * 4_000, True, True),
        ("<!" * 4_001, True, False),
        ("a" * 4_000, False, True),
        ("a" * 4_001, False, False),
        ("&" * 800, False, True),
        ("&" * 801, False, False),
    ],
    ids=["12,000", "12,001", "12,000 rendered", "12,003 rendered", "4,000", "4,001", "4,000 escaped", "4,005 escaped"],
)
def test_the_length_that_counts_is_the_length_after_rendering(text: str, markup: bool, fits: bool) -> None:
    assert render(PostMessage(address=CHANNEL, text=text, markup=markup)).fits is fits
    assert render(EditMessage(address=CHANNEL, message_id="1.1", text=text, markup=markup)).fits is fits


def test_l22_a_models_broadcast_is_text() -> None:
    reply = case("L22")["input"]["reply"]
    markdown = str(render(PostMessage(address=CHANNEL, text=reply)).arguments["markdown_text"])
    assert "<!" not in markdown
    assert "<@" not in markdown
    plain = str(render(PostMessage(address=CHANNEL, text=reply, markup=False)).arguments["text"])
    assert "&lt;!channel&gt;" in plain
    assert "<" not in plain
    assert "&amp;" not in plain


def test_r12_text_is_escaped_once_and_markdown_not_at_all() -> None:
    recorded = case("R12")
    source = recorded["input"]["text"]
    plain = str(render(PostMessage(address=CHANNEL, text=source, markup=False)).arguments["text"])
    assert plain == escape(source)
    for kind, needle in recorded["assert"]:
        assert (needle in plain) is (kind == "contains")
    assert render(PostMessage(address=CHANNEL, text=source)).arguments["markdown_text"] == source


BUTTONS = (
    Button(label="Allow", data="approve:abcdefg2", style="go"),
    Button(label="Always here", data="always:abcdefg2"),
    Button(label="Deny", data="deny:abcdefg2", style="stop"),
)


def blocks_of(operation: PostMessage | EditMessage) -> Any:
    return render(operation).arguments["blocks"]


def test_buttons_stand_in_a_row_below_the_markdown() -> None:
    call = render(PostMessage(address=THREAD, text="**May I** <!here>?", buttons=BUTTONS))
    assert call.method == "chat.postMessage"
    assert call.arguments == {
        "channel": "C1",
        "thread_ts": "17.1",
        "text": "**May I** &lt;!here&gt;?",
        "blocks": [
            {"type": "markdown", "text": f"**May I** <{INERT}!here>?"},
            {
                "type": "actions",
                "elements": [
                    {
                        "type": "button",
                        "text": {"type": "plain_text", "text": "Allow", "emoji": False},
                        "action_id": "dragoman:0",
                        "value": "approve:abcdefg2",
                        "style": "primary",
                    },
                    {
                        "type": "button",
                        "text": {"type": "plain_text", "text": "Always here", "emoji": False},
                        "action_id": "dragoman:1",
                        "value": "always:abcdefg2",
                    },
                    {
                        "type": "button",
                        "text": {"type": "plain_text", "text": "Deny", "emoji": False},
                        "action_id": "dragoman:2",
                        "value": "deny:abcdefg2",
                        "style": "danger",
                    },
                ],
            },
        ],
        "unfurl_links": False,
        "unfurl_media": False,
        "parse": "none",
        "link_names": False,
    }
    edited = render(EditMessage(address=THREAD, message_id="18.2", text="**May I** <!here>?", buttons=BUTTONS))
    assert edited.arguments["blocks"] == call.arguments["blocks"]


def test_text_without_markup_is_plain_text_above_the_buttons() -> None:
    *above, _ = blocks_of(PostMessage(address=THREAD, text="*a* <@U1> &", markup=False, buttons=BUTTONS))
    assert above == [{"type": "section", "text": {"type": "plain_text", "text": "*a* <@U1> &", "emoji": False}}]


def test_long_plain_text_is_cut_into_sections_where_a_line_ends() -> None:
    lines = "\n".join(["x" * 99] * 39)
    *above, _ = blocks_of(PostMessage(address=THREAD, text=lines, markup=False, buttons=BUTTONS))
    parts = [block["text"]["text"] for block in above]
    assert "\n".join(parts) == lines
    assert [len(part) <= 3_000 for part in parts] == [True, True]
    *above, _ = blocks_of(PostMessage(address=THREAD, text="x" * 4_000, markup=False, buttons=BUTTONS))
    assert [len(block["text"]["text"]) for block in above] == [3_000, 1_000]


def test_an_edit_of_plain_text_takes_the_blocks_away() -> None:
    arguments = render(EditMessage(address=THREAD, message_id="18.2", text="Done.", markup=False)).arguments
    assert (arguments["text"], arguments["blocks"]) == ("Done.", [])


@pytest.mark.parametrize("text", ["x" * 11_500, "&" * 11_500, "ab<" * 3_000])
def test_what_a_notification_shows_is_cut_to_what_slack_takes(text: str) -> None:
    call = render(EditMessage(address=THREAD, message_id="18.2", text=text, buttons=BUTTONS))
    shown = str(call.arguments["text"])
    assert call.fits
    assert 3_990 <= len(shown) <= 4_000
    assert text.startswith(unescape(shown))


def test_a_label_that_is_too_long_is_cut() -> None:
    (_, row) = blocks_of(PostMessage(address=THREAD, text="a", buttons=(Button(label="x" * 76, data="d"),)))
    assert row["elements"][0]["text"]["text"] == "x" * 74 + "…"


def test_a_private_word_goes_to_one_user_in_the_thread() -> None:
    call = render(TellPrivately(address=THREAD, user="U2", text="Not **yours**, <@U1>.", press="19.3"))
    assert call.method == "chat.postEphemeral"
    assert call.arguments == {
        "channel": "C1",
        "thread_ts": "17.1",
        "user": "U2",
        "markdown_text": f"Not **yours**, <{INERT}@U1>.",
        "parse": "none",
        "link_names": False,
    }
