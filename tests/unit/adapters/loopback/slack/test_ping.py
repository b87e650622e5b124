import pytest

from adapters.loopback.slack.ping import find_block_pings, find_pings


@pytest.mark.parametrize(
    ("text", "kind", "target"),
    [
        ("hey <!channel> you", "channel", ""),
        ("<!here|here>", "here", ""),
        ("<!everyone>", "everyone", ""),
        ("<!subteam^S012>", "subteam", "S012"),
        ("<!subteam^S012|@team>", "subteam", "S012"),
        ("<@U1>", "user", "U1"),
        ("<@W1|ada>", "user", "W1"),
        ("<#C1|general>", "link", "C1"),
    ],
)
def test_what_slack_resolves_is_found(text: str, kind: str, target: str) -> None:
    (ping,) = find_pings(text)
    assert (ping.kind, ping.target, ping.in_code, ping.certain) == (kind, target, False, True)
    assert ping.raw in text


@pytest.mark.parametrize(
    "text",
    [
        "&lt;!channel&gt; &lt;@U1&gt;",
        "<\N{ZERO WIDTH SPACE}!channel> <\N{WORD JOINER}@U1>",
        "@channel @here @everyone @ada #general",
        "< !channel> <!date^1^x|y> <https://example.org|@channel> a < b > c",
        "mail ada@example.org",
    ],
)
def test_what_is_escaped_broken_or_plain_is_not(text: str) -> None:
    assert find_pings(text) == ()


@pytest.mark.parametrize("text", ["`<!channel>`", "``a ` <!channel>``", "```\n<!channel>\n```", "```py\n<!channel>"])
def test_in_code_it_is_reported_as_uncertain(text: str) -> None:
    (ping,) = find_pings(text)
    assert (ping.in_code, ping.certain) == (True, False)


def test_between_two_pieces_of_code_is_not_in_code() -> None:
    (ping,) = find_pings("`a` <!here> `b`")
    assert not ping.in_code


@pytest.mark.parametrize(
    ("link_names", "parse", "certain"), [(True, None, [False]), (None, "full", [True]), (None, "client", [False])]
)
def test_a_plain_broadcast_resolves_where_slack_links_names(
    link_names: bool | None, parse: str | None, certain: list[bool]
) -> None:
    found = find_pings("ping @here, not x@here.org", link_names=link_names, parse=parse)
    assert [(ping.kind, ping.raw) for ping in found] == [("here", "@here")]
    assert [ping.certain for ping in found] == certain


@pytest.mark.parametrize(("link_names", "parse"), [(False, None), (None, "none"), (None, None), (False, "none")])
def test_a_plain_broadcast_is_inert_otherwise(link_names: bool | None, parse: str | None) -> None:
    assert find_pings("ping @here", link_names=link_names, parse=parse) == ()


def test_pings_come_in_the_order_of_the_text() -> None:
    found = find_pings("@here <!channel> @everyone <@U1>", parse="full")
    assert [ping.kind for ping in found] == ["here", "channel", "everyone", "user"]


def test_blocks_are_searched_at_every_depth() -> None:
    blocks: list[object] = [
        {"type": "section", "text": {"type": "mrkdwn", "text": "<!channel>"}},
        {"type": "section", "text": {"type": "plain_text", "text": "<!here>"}},
        {"type": "markdown", "text": "<@U2>"},
        {
            "type": "rich_text",
            "elements": [
                {
                    "type": "rich_text_section",
                    "elements": [
                        {"type": "broadcast", "range": "here"},
                        {"type": "user", "user_id": "U1"},
                        {"type": "usergroup", "usergroup_id": "S1"},
                        {"type": "channel", "channel_id": "C1"},
                        {"type": "text", "text": "<!everyone>"},
                    ],
                }
            ],
        },
    ]
    found = find_block_pings(blocks)
    assert all(ping.certain and not ping.in_code for ping in found)
    assert [(ping.kind, ping.target) for ping in found] == [
        ("channel", ""),
        ("user", "U2"),
        ("here", ""),
        ("user", "U1"),
        ("subteam", "S1"),
        ("link", "C1"),
    ]
