"""What is shown in the place of a secret, by example; the laws are in tests/properties."""

import pytest

from gateway.redaction import redact


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("env:xoxb-SECRET1", "env:xoxb-…"),
        ("xoxe.xoxp-1-Mi0yLTc", "xoxe.xoxp-…"),
        ("'xoxe-1-A', \"xapp-1-A2\"", "'xoxe-…', \"xapp-…\""),
        ("the key sk-ant-api03-a_B-c.", "the key sk-ant-…."),
        ("key=sk-proj-1, next", "key=sk-…, next"),
        ("?key%3Dsk-1&x=1", "?key%3Dsk-…&x=1"),
        ("'\\nsk-1'", "'\\nsk-…'"),
        ("XOXB-1", "XOXB-…"),
        ("xoxb-ä.ß", "xoxb-…"),
        ("wss://x/link/?ticket=8f-1&app_id=A1", "wss://x/link/?ticket=…&app_id=A1"),
        ("https://ada:pass@word@slack.com/api/", "https://…@slack.com/api/"),
        ("Authorization: Bearer abc", "Authorization: Bearer …"),
        ("{'Authorization': 'Basic YTpi', 'x': 1}", "{'Authorization': 'Basic …', 'x': 1}"),
        ("(b'authorization', b'Bearer abc')", "(b'authorization', b'Bearer …')"),
        ('{"x-api-key": "abc"}', '{"x-api-key": "…"}'),
        ("sent Bearer abcdefghijklmnop", "sent Bearer …"),
        ("wss://x/?ticket=xoxb-1", "wss://x/?ticket=…"),
        ("https://xoxb-1:x@slack.com", "https://…@slack.com"),
        (f"token 123456789:{'AAE-x_y' * 5}!", "token 123456789:…!"),
        (
            f"https://api.telegram.org/bot123456789:{'AAE-x_y' * 5}/getMe",
            "https://api.telegram.org/bot123456789:…/getMe",
        ),
        ("http://127.0.0.1:9/bot7000001:AAE-loopback/getMe", "http://127.0.0.1:9/bot7000001:…/getMe"),
        (f"Bot MTE{'5' * 20}.GxYzAb.{'q-_' * 10}, next", "Bot MTE…, next"),
        ("POST /webhooks/1190000000000000001/aW50ZXJh-x?wait=1", "POST /webhooks/1190000000000000001/…?wait=1"),
        ("/interactions/1190000000000000001/aW50/callback", "/interactions/1190000000000000001/…/callback"),
    ],
)
def test_of_a_secret_only_its_kind_is_shown(text: str, shown: str) -> None:
    assert redact(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "the Slack bot token (xoxb-...) is missing",
        "begins with xoxb-, xapp- or sk-",
        "task-list, disk-full, risk-free",
        "Basic Information, App-Level Tokens",
        "the bearer of this letter",
        "https://api.slack.com/apps: your app, OAuth & Permissions",
        "mail ada@example.com, see https://example.com/@ada?q=a@b",
        "the ticket is 5, the token is missing",
        "max_tokens = 8192",
        "at 12:30, 123456: a number, 10.0.0.1:8800",
        "Mississippi.example.com/a.b.c",
        "/webhooks/{webhook_id}/{webhook_token}",
        "env:SLACK_BOT_TOKEN",
    ],
)
def test_all_else_is_shown_as_it_is(text: str) -> None:
    assert redact(text) == text
