import pytest

from adapters.loopback.slack import rule
from adapters.loopback.slack.answer import RefusedError
from adapters.loopback.slack.argument import Arguments
from adapters.loopback.slack.content import read_post, read_update
from adapters.loopback.slack.rule import Rule

HEAVY = [
    {"type": "markdown", "text": "x" * 6_601},
    {"type": "section", "text": {"type": "mrkdwn", "text": "x" * 6_600}},
]


@pytest.mark.parametrize(
    ("values", "broken"),
    [
        ({}, rule.NO_TEXT),
        ({"text": ""}, rule.NO_TEXT),
        ({"text": " \n\t"}, rule.NO_TEXT),
        ({"markdown_text": "  "}, rule.NO_TEXT),
        ({"text": "a", "markdown_text": "b"}, rule.MARKDOWN_ALONE),
        ({"blocks": [{"type": "divider"}], "markdown_text": "b"}, rule.MARKDOWN_ALONE),
        ({"markdown_text": "x" * 12_001}, rule.MARKDOWN_LENGTH),
        ({"blocks": [{"type": "divider"}] * 51}, rule.BLOCK_COUNT),
        ({"blocks": HEAVY}, rule.BLOCKS_LENGTH),
        ({"blocks": "not JSON"}, rule.BLOCKS_FORMAT),
        ({"blocks": {"type": "divider"}}, rule.BLOCKS_FORMAT),
        ({"text": "a", "attachments": "{}"}, rule.BLOCKS_FORMAT),
        ({"text": "a", "metadata": {"event_type": "x"}}, rule.METADATA_FORMAT),
        ({"text": "a", "metadata": {"event_type": 1, "event_payload": {}}}, rule.METADATA_FORMAT),
        ({"text": "a", "metadata": "["}, rule.METADATA_FORMAT),
    ],
)
def test_a_post_and_an_update_that_break_a_rule_are_refused(values: dict[str, object], broken: Rule) -> None:
    for read in (read_post, read_update):
        with pytest.raises(RefusedError) as refusal:
            read(Arguments(values))
        assert refusal.value.rule is broken


@pytest.mark.parametrize(
    "values",
    [
        {"text": "a"},
        {"markdown_text": "x" * 12_000},
        {"markdown_text": "b", "text": "", "blocks": []},
        {"blocks": [{"type": "divider"}] * 50},
        {"blocks": '[{"type": "divider"}]'},
        {
            "blocks": [
                {"type": "markdown", "text": "x" * 12_000},
                {"type": "section", "text": {"type": "mrkdwn", "text": "x" * 1_200}},
            ]
        },
        {"attachments": [{"text": "a"}]},
        {"text": "a", "metadata": {"event_type": "x", "event_payload": {}}},
        {"text": "a", "metadata": {}},
    ],
)
def test_what_stays_within_the_rules_is_read(values: dict[str, object]) -> None:
    content, warnings = read_post(Arguments(values))
    assert warnings == []
    assert content.text == (values.get("text") or values.get("markdown_text", ""))
    assert content.markup == ("markdown" if values.get("markdown_text") else "mrkdwn")


def test_the_length_is_counted_in_characters_not_in_bytes_or_utf16() -> None:
    assert read_post(Arguments({"markdown_text": "\N{GRINNING FACE}" * 12_000}))[0].text.endswith("\N{GRINNING FACE}")


def test_long_text_is_cut_with_a_warning_in_a_post_and_refused_in_an_update() -> None:
    content, warnings = read_post(Arguments({"text": "x" * 40_001}))
    assert (len(content.text), warnings) == (40_000, ["message_truncated"])
    assert read_post(Arguments({"text": "x" * 40_000}))[1] == []
    assert len(read_update(Arguments({"text": "x" * 4_000})).text) == 4_000
    with pytest.raises(RefusedError) as refusal:
        read_update(Arguments({"text": "x" * 4_001}))
    assert refusal.value.rule is rule.UPDATE_LENGTH


def test_flags_are_kept_as_they_were_sent() -> None:
    content, _ = read_post(
        Arguments({"text": "a", "unfurl_links": False, "unfurl_media": "false", "parse": "none", "link_names": "1"})
    )
    assert (content.unfurl_links, content.unfurl_media) == (False, False)
    assert (content.parse, content.link_names) == ("none", True)
    silent, _ = read_post(Arguments({"text": "a"}))
    assert (silent.unfurl_links, silent.unfurl_media, silent.parse, silent.link_names) == (None, None, None, None)


def test_an_update_that_says_nothing_about_names_is_parsed_as_a_client_does() -> None:
    assert read_post(Arguments({"text": "@here"}))[0].pings == ()
    assert [ping.kind for ping in read_update(Arguments({"markdown_text": "@here"})).pings] == ["here"]
    assert read_update(Arguments({"markdown_text": "@here", "parse": "none"})).pings == ()


def test_pings_of_text_blocks_and_attachments_are_all_reported() -> None:
    content, _ = read_post(
        Arguments(
            {
                "text": "<!here>",
                "blocks": [{"type": "markdown", "text": "<!channel>"}],
                "attachments": [{"pretext": "<!everyone>"}],
            }
        )
    )
    assert [ping.kind for ping in content.pings] == ["here", "channel", "everyone"]
