"""Slack's rules as data: what is enforced, with its number, its error code and where it is written.

Nothing here was checked against a live workspace; ``Confidence`` says how far each rule can be trusted.
"""

from dataclasses import dataclass
from enum import Enum

METHODS = "https://docs.slack.dev/reference/methods"
RATE_LIMITS = "https://docs.slack.dev/apis/web-api/rate-limits"
SOCKET_MODE = "https://docs.slack.dev/apis/events-api/using-socket-mode"
EVENTS_API = "https://docs.slack.dev/apis/events-api"


class Confidence(Enum):
    """How a rule is known."""

    DOCUMENTED = "O"
    """Slack's own documentation or specification says so."""
    READ = "S"
    """Read in the source of Slack's SDK, or of its tests."""
    MEASURED = "M"
    """Measured by a third party on the live platform."""
    CLAIMED = "C"
    """Community claim or custom; also the stricter of two guesses where nobody has measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule of the platform.

    Attributes:
        name: stable id, also the row in the README's table.
        says: the rule in one sentence.
        source: where it is written.
        confidence: how it is known.
        error: the code the Web API answers with when the rule is broken; empty where it isn't an error.
        limit: the rule's number; 0 where it has none.
    """

    name: str
    says: str
    source: str
    confidence: Confidence
    error: str = ""
    limit: int = 0


INVALID_TOKEN = Rule(
    name="invalid_token",
    says="A token that is not the workspace's is refused.",
    source=f"{METHODS}/auth.test",
    confidence=Confidence.DOCUMENTED,
    error="invalid_auth",
)
NO_TOKEN = Rule(
    name="no_token",
    says="A call without a token is refused.",
    source=f"{METHODS}/auth.test",
    confidence=Confidence.DOCUMENTED,
    error="not_authed",
)
TOKEN_TYPE = Rule(
    name="token_type",
    says="apps.connections.open takes the app token only, every other method the bot token only.",
    source=f"{METHODS}/auth.test, {METHODS}/apps.connections.open",
    confidence=Confidence.DOCUMENTED,
    error="not_allowed_token_type",
)
UNKNOWN_METHOD = Rule(
    name="unknown_method",
    says="A method that does not exist is refused; so is every method this server does not have.",
    source="https://docs.slack.dev/apis/web-api",
    confidence=Confidence.DOCUMENTED,
    error="unknown_method",
)
MISSING_SCOPE = Rule(
    name="missing_scope",
    says="A method whose scope the token lacks is refused, naming what is needed and what is there.",
    source="https://docs.slack.dev/authentication/installing-with-oauth",
    confidence=Confidence.DOCUMENTED,
    error="missing_scope",
)
RATE_LIMITED = Rule(
    name="rate_limited",
    says="A method over its budget answers 429 with Retry-After in whole seconds; the refused call costs nothing.",
    source=RATE_LIMITS,
    confidence=Confidence.DOCUMENTED,
    error="ratelimited",
)
CHANNEL_UNKNOWN = Rule(
    name="channel_unknown",
    says="A channel that does not exist, or none at all, is refused.",
    source=f"{METHODS}/chat.postMessage",
    confidence=Confidence.DOCUMENTED,
    error="channel_not_found",
)
NOT_A_MEMBER = Rule(
    name="not_a_member",
    says="The bot cannot write into a channel it is not in.",
    source=f"{METHODS}/chat.postMessage",
    confidence=Confidence.DOCUMENTED,
    error="not_in_channel",
)
USER_UNKNOWN = Rule(
    name="user_unknown",
    says="A user who does not exist is refused.",
    source=f"{METHODS}/users.info",
    confidence=Confidence.DOCUMENTED,
    error="user_not_found",
)
NO_TEXT = Rule(
    name="no_text",
    says="A message needs text, markdown_text, blocks or attachments; white space alone is taken for none, a guess.",
    source=f"{METHODS}/chat.postMessage",
    confidence=Confidence.DOCUMENTED,
    error="no_text",
)
MARKDOWN_ALONE = Rule(
    name="markdown_alone",
    says="markdown_text excludes text and blocks.",
    source=f"{METHODS}/chat.postMessage",
    confidence=Confidence.DOCUMENTED,
    error="markdown_text_conflict",
)
MARKDOWN_LENGTH = Rule(
    name="markdown_length",
    says="markdown_text holds at most 12,000 characters. The number is documented, the error code is not.",
    source=f"{METHODS}/chat.postMessage",
    confidence=Confidence.DOCUMENTED,
    error="msg_too_long",
    limit=12_000,
)
POST_LENGTH = Rule(
    name="post_length",
    says="chat.postMessage cuts text after 40,000 characters and warns message_truncated.",
    source="https://docs.slack.dev/changelog/2018-04-truncating-really-long-messages",
    confidence=Confidence.DOCUMENTED,
    limit=40_000,
)
UPDATE_LENGTH = Rule(
    name="update_length",
    says="chat.update refuses text over 4,000 characters.",
    source=f"{METHODS}/chat.update",
    confidence=Confidence.DOCUMENTED,
    error="msg_too_long",
    limit=4_000,
)
BLOCK_COUNT = Rule(
    name="block_count",
    says="A message holds at most 50 blocks. The number is documented, the error code is not.",
    source="https://docs.slack.dev/reference/block-kit/blocks",
    confidence=Confidence.DOCUMENTED,
    error="invalid_blocks",
    limit=50,
)
BLOCKS_LENGTH = Rule(
    name="blocks_length",
    says="All text in a message's blocks together holds about 13,200 characters, though each block is legal.",
    source="https://github.com/slackapi/bolt-js/issues/2509",
    confidence=Confidence.MEASURED,
    error="msg_blocks_too_long",
    limit=13_200,
)
BLOCKS_FORMAT = Rule(
    name="blocks_format",
    says="blocks and attachments are JSON lists.",
    source=f"{METHODS}/chat.postMessage",
    confidence=Confidence.DOCUMENTED,
    error="invalid_blocks_format",
)
METADATA_FORMAT = Rule(
    name="metadata_format",
    says="metadata is an object with event_type and event_payload; on chat.update an empty one removes it.",
    source=f"{METHODS}/chat.update",
    confidence=Confidence.DOCUMENTED,
    error="invalid_metadata_format",
)
MESSAGE_UNKNOWN = Rule(
    name="message_unknown",
    says="chat.update, chat.delete and reactions need a message that exists.",
    source=f"{METHODS}/chat.update",
    confidence=Confidence.DOCUMENTED,
    error="message_not_found",
)
NOT_THE_AUTHOR = Rule(
    name="not_the_author",
    says="The bot can update only its own messages.",
    source=f"{METHODS}/chat.update",
    confidence=Confidence.DOCUMENTED,
    error="cant_update_message",
)
NOT_THE_OWNER = Rule(
    name="not_the_owner",
    says="The bot can delete only its own messages.",
    source=f"{METHODS}/chat.delete",
    confidence=Confidence.DOCUMENTED,
    error="cant_delete_message",
)
SAME_EDIT = Rule(
    name="same_edit",
    says="An edit that changes nothing succeeds.",
    source=f"{METHODS}/chat.update",
    confidence=Confidence.CLAIMED,
)
THREAD_FORMAT = Rule(
    name="thread_format",
    says="A thread_ts that is no message id at all is refused.",
    source="https://docs.slack.dev/messaging#threading",
    confidence=Confidence.CLAIMED,
    error="invalid_thread_ts",
)
THREAD_GONE = Rule(
    name="thread_gone",
    says="A reply to a message that is gone succeeds, at the channel's top level; its answer lacks thread_ts.",
    source="https://github.com/slack-go/slack/issues/1571, https://github.com/langchain-ai/open-swe/pull/2753",
    confidence=Confidence.MEASURED,
)
THREAD_OF_REPLY = Rule(
    name="thread_of_reply",
    says="A reply to a reply does not land in its thread (Slack only says not to do it): treated like one to nothing.",
    source=f"{METHODS}/chat.postMessage, https://github.com/slackapi/python-slack-sdk/issues/1116",
    confidence=Confidence.CLAIMED,
)
TOMBSTONE = Rule(
    name="tombstone",
    says="A deleted message that has replies leaves a tombstone of Slackbot's in every listing, and its thread stays.",
    source="https://github.com/sgratzl/slack_cleaner2/issues/29, https://github.com/hackclub/toriel/pull/238",
    confidence=Confidence.MEASURED,
)
TOMBSTONE_EVENT = Rule(
    name="tombstone_event",
    says="Its deletion comes as message_changed, into the tombstone; any other as message_deleted.",
    source="https://github.com/42wim/matterbridge/issues/600, https://github.com/openclaw/openclaw/pull/22035",
    confidence=Confidence.MEASURED,
)
THREAD_UNKNOWN = Rule(
    name="thread_unknown",
    says="conversations.replies needs a message that exists.",
    source=f"{METHODS}/conversations.replies",
    confidence=Confidence.DOCUMENTED,
    error="thread_not_found",
)
THREAD_ROOT = Rule(
    name="thread_root",
    says="conversations.replies gives the oldest replies first, and the root in front of them on every page, whatever "
    "oldest, latest and limit say.",
    source=f"{METHODS}/conversations.replies, https://github.com/rusq/slackdump/blob/master/thread.go",
    confidence=Confidence.MEASURED,
)
CHANNEL_ORDER = Rule(
    name="channel_order",
    says="conversations.history gives the newest first and no replies; with oldest and without latest it begins with "
    "the page at the oldest end.",
    source=f"{METHODS}/conversations.history, https://github.com/slackhq/slack-api-docs/issues/4",
    confidence=Confidence.MEASURED,
)
RANGE_OLDEST = Rule(
    name="range_oldest",
    says="A listing holds what is later than oldest, or of just that time with inclusive; oldest is a time.",
    source=f"{METHODS}/conversations.history",
    confidence=Confidence.DOCUMENTED,
    error="invalid_ts_oldest",
)
RANGE_LATEST = Rule(
    name="range_latest",
    says="A listing holds what is earlier than latest, or of just that time with inclusive; latest is a time.",
    source=f"{METHODS}/conversations.history",
    confidence=Confidence.DOCUMENTED,
    error="invalid_ts_latest",
)
CURSOR = Rule(
    name="cursor",
    says="A listing that does not fit on a page says has_more and next_cursor; another cursor is refused. A limit over "
    "what the method gives (1,000 replies, 999 of a channel) is taken for that.",
    source="https://docs.slack.dev/apis/web-api/pagination",
    confidence=Confidence.DOCUMENTED,
    error="invalid_cursor",
)
METADATA_ASKED = Rule(
    name="metadata_asked",
    says="A listing shows metadata with include_all_metadata only.",
    source=f"{METHODS}/conversations.history",
    confidence=Confidence.DOCUMENTED,
)
QUERY_ONLY = Rule(
    name="query_only",
    says="conversations.replies reads no JSON: unlike others, it is not said to.",
    source="https://github.com/slack-ruby/slack-api-ref/tree/master/docs.slack.dev/methods",
    confidence=Confidence.CLAIMED,
)
READ_SCOPE = Rule(
    name="read_scope",
    says="Reading needs the history scope of the conversation's type: channels, groups, im.",
    source=f"{METHODS}/conversations.history",
    confidence=Confidence.DOCUMENTED,
    error="missing_scope",
)
REACTION_ITEM = Rule(
    name="reaction_item",
    says="A reaction needs a channel and a timestamp.",
    source=f"{METHODS}/reactions.add",
    confidence=Confidence.DOCUMENTED,
    error="no_item_specified",
)
REACTION_TIME = Rule(
    name="reaction_time",
    says="The timestamp of a reaction is a message id.",
    source=f"{METHODS}/reactions.add",
    confidence=Confidence.DOCUMENTED,
    error="bad_timestamp",
)
REACTION_NAME = Rule(
    name="reaction_name",
    says="The name of a reaction is an emoji's, without colons. What a name looks like is a guess.",
    source=f"{METHODS}/reactions.add",
    confidence=Confidence.DOCUMENTED,
    error="invalid_name",
)
REACTION_ONCE = Rule(
    name="reaction_once",
    says="The bot cannot add a reaction that it has added.",
    source=f"{METHODS}/reactions.add",
    confidence=Confidence.DOCUMENTED,
    error="already_reacted",
)
REACTION_UNKNOWN = Rule(
    name="reaction_unknown",
    says="The bot cannot remove a reaction that it has not added.",
    source=f"{METHODS}/reactions.remove",
    confidence=Confidence.DOCUMENTED,
    error="no_reaction",
)
ACKNOWLEDGE_IN_TIME = Rule(
    name="acknowledge_in_time",
    says="An envelope is acknowledged within 3 real seconds; a later acknowledgement does not count.",
    source=SOCKET_MODE,
    confidence=Confidence.DOCUMENTED,
    limit=3,
)
REDELIVERY = Rule(
    name="redelivery",
    says="An event nobody acknowledged comes again at once, after 1 and after 5 minutes: same event_id, new envelope, "
    "retry_attempt and retry_reason. Documented for HTTP, seen in Socket Mode.",
    source=f"{EVENTS_API}, https://github.com/slackapi/python-slack-events-api/issues/93",
    confidence=Confidence.DOCUMENTED,
)
ENVELOPE_FIELDS = Rule(
    name="envelope_fields",
    says="An event's envelope carries retry_attempt and retry_reason, 0 and empty at first; any other carries neither, "
    "is never repeated, and may be acknowledged with a payload.",
    source="https://github.com/slackapi/python-slack-sdk/blob/main/slack_sdk/socket_mode/request.py, "
    "https://github.com/slackapi/python-slack-events-api/issues/93",
    confidence=Confidence.READ,
)
SOCKET_COUNT = Rule(
    name="socket_count",
    says="An app has at most 10 sockets; the next is told too_many_websockets. Each event goes to one of them.",
    source=f"{SOCKET_MODE}, https://github.com/slackapi/node-slack-sdk/issues/1654",
    confidence=Confidence.DOCUMENTED,
    limit=10,
)
ONE_TIME_TICKET = Rule(
    name="one_time_ticket",
    says="A socket's address works once.",
    source=SOCKET_MODE,
    confidence=Confidence.DOCUMENTED,
)
MENTION_TWICE = Rule(
    name="mention_twice",
    says="A mention in a channel comes as app_mention and as message: one ts, two event_ids. In a DM only as message.",
    source="https://docs.slack.dev/reference/events/app_mention",
    confidence=Confidence.CLAIMED,
)
OWN_MESSAGES = Rule(
    name="own_messages",
    says="The bot's own messages, edits and deletions come back to it as events.",
    source="https://docs.slack.dev/reference/events/message",
    confidence=Confidence.DOCUMENTED,
)
ESCAPED_INBOUND = Rule(
    name="escaped_inbound",
    says="In what a user wrote &, < and > arrive as entities; < and > stay only round what Slack made a link.",
    source="https://docs.slack.dev/messaging/formatting-message-text",
    confidence=Confidence.DOCUMENTED,
)
PINGS = Rule(
    name="pings",
    says="<!channel>, <!here>, <!everyone>, <!subteam^S..>, <@U..> and <#C..> resolve in what the bot writes.",
    source="https://docs.slack.dev/messaging/formatting-message-text, "
    "https://github.com/turnstonelabs/turnstone/issues/935",
    confidence=Confidence.MEASURED,
)
PINGS_IN_CODE = Rule(
    name="pings_in_code",
    says="They are reported inside code too. Nobody has measured it.",
    source="assumed, the stricter way",
    confidence=Confidence.CLAIMED,
)
PLAIN_PINGS = Rule(
    name="plain_pings",
    says="Plain @channel, @here and @everyone resolve with link_names or parse=full; reported also for parse=client, "
    "which chat.update takes when it is told nothing.",
    source=f"{METHODS}/chat.update",
    confidence=Confidence.CLAIMED,
)

RULES: tuple[Rule, ...] = (
    NO_TOKEN,
    INVALID_TOKEN,
    TOKEN_TYPE,
    UNKNOWN_METHOD,
    MISSING_SCOPE,
    RATE_LIMITED,
    CHANNEL_UNKNOWN,
    NOT_A_MEMBER,
    USER_UNKNOWN,
    NO_TEXT,
    MARKDOWN_ALONE,
    MARKDOWN_LENGTH,
    POST_LENGTH,
    UPDATE_LENGTH,
    BLOCK_COUNT,
    BLOCKS_LENGTH,
    BLOCKS_FORMAT,
    METADATA_FORMAT,
    MESSAGE_UNKNOWN,
    NOT_THE_AUTHOR,
    NOT_THE_OWNER,
    SAME_EDIT,
    THREAD_FORMAT,
    THREAD_GONE,
    THREAD_OF_REPLY,
    TOMBSTONE,
    TOMBSTONE_EVENT,
    THREAD_UNKNOWN,
    THREAD_ROOT,
    CHANNEL_ORDER,
    RANGE_OLDEST,
    RANGE_LATEST,
    CURSOR,
    METADATA_ASKED,
    QUERY_ONLY,
    READ_SCOPE,
    REACTION_ITEM,
    REACTION_TIME,
    REACTION_NAME,
    REACTION_ONCE,
    REACTION_UNKNOWN,
    ACKNOWLEDGE_IN_TIME,
    REDELIVERY,
    ENVELOPE_FIELDS,
    SOCKET_COUNT,
    ONE_TIME_TICKET,
    MENTION_TWICE,
    OWN_MESSAGES,
    ESCAPED_INBOUND,
    PINGS,
    PINGS_IN_CODE,
    PLAIN_PINGS,
)
