"""Discord's rules as data: what is enforced, with its number, its error code and where it is written.

Nothing here was checked against the live platform; ``Confidence`` says how far each rule can be trusted.
"""

from dataclasses import dataclass
from enum import Enum

DOCS = "https://docs.discord.com/developers"
RATE_LIMITS = f"{DOCS}/topics/rate-limits"
MESSAGE = f"{DOCS}/resources/message"
INTERACTION = f"{DOCS}/interactions/receiving-and-responding"
COMMANDS = f"{DOCS}/interactions/application-commands"
GATEWAY = f"{DOCS}/events/gateway"
OPCODES = f"{DOCS}/topics/opcodes-and-status-codes"
ERRORS = "https://github.com/discord-userdoccers/discord-userdoccers/blob/master/pages/datamining/errors.mdx"
SDK = "https://github.com/Rapptz/discord.py/blob/v2.7.1/discord"


class Confidence(Enum):
    """How a rule is known."""

    DOCUMENTED = "O"
    """Discord's own documentation or staff says so."""
    READ = "S"
    """Read in the source of discord.py."""
    LAB = "L"
    """Seen when the real discord.py talked to a local server."""
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
        known: how it is known.
        status: the HTTP status of a refusal; 0 where breaking it is not refused.
        code: the code in the body of a refusal; 0 also where Discord has none.
        message: the text beside it.
        close: the gateway's close code; 0 where it closes nothing.
        limit: the rule's number; 0 where it has none.
    """

    name: str
    says: str
    source: str
    known: Confidence
    status: int = 0
    code: int = 0
    message: str = ""
    close: int = 0
    limit: int = 0

    @property
    def error(self) -> str:
        """What is answered when the rule is broken, as the README shows it; empty where it isn't an error."""
        if self.close:
            return f"close {self.close}"
        return f"{self.status} {self.code or ''}".rstrip() if self.status else ""


# Any call.

UNAUTHORIZED = Rule(
    name="unauthorized",
    says="A call without the bot's token, or with another, is refused; routes with an interaction's token need none.",
    source=f"{DOCS}/reference",
    known=Confidence.DOCUMENTED,
    status=401,
    message="401: Unauthorized",
)
UNKNOWN_ROUTE = Rule(
    name="unknown_route",
    says="A route that does not exist is refused; so is every route this server does not have.",
    source=OPCODES,
    known=Confidence.DOCUMENTED,
    status=404,
    message="404: Not Found",
)
BODY_FORMAT = Rule(
    name="body_format",
    says="A body is JSON, or a form whose payload_json is.",
    source=f"{DOCS}/reference",
    known=Confidence.DOCUMENTED,
    status=400,
    code=50109,
    message="The request body contains invalid JSON.",
)
JSON_EXACTLY = Rule(
    name="json_exactly",
    says="Answers are application/json without a charset: with one discord.py takes the body for text.",
    source=f"{SDK}/http.py",
    known=Confidence.LAB,
)
RATE_LIMITED = Rule(
    name="rate_limited",
    says="A bucket over its limit answers 429 with Retry-After in whole seconds, X-RateLimit-Scope, and retry_after "
    "as a fraction in the body; the refused call costs nothing. One call more than announced is let in.",
    source=RATE_LIMITS,
    known=Confidence.DOCUMENTED,
    status=429,
    message="You are being rate limited.",
)
RATE_HEADERS = Rule(
    name="rate_headers",
    says="Every answer of a bucket carries X-RateLimit-Limit, -Remaining, -Reset, -Reset-After and -Bucket; windows "
    "are fixed and begin with their first call. How large they are is not documented, see limit.py.",
    source=RATE_LIMITS,
    known=Confidence.DOCUMENTED,
)
VIA = Rule(
    name="via",
    says="A genuine 429 has a Via header; without one discord.py takes it for a ban by Cloudflare and raises.",
    source=f"{SDK}/http.py",
    known=Confidence.LAB,
)
GLOBAL_RATE = Rule(
    name="global_rate",
    says="A bot has 50 calls a second; interactions' routes are not counted. Over it: 429 with global true.",
    source=RATE_LIMITS,
    known=Confidence.DOCUMENTED,
    status=429,
    message="You are being rate limited.",
    limit=50,
)
INVALID_REQUESTS = Rule(
    name="invalid_requests",
    says="After 10,000 answers of 401, 403 or 429 (scope shared not counted) in ten minutes Cloudflare answers: 429, "
    "HTML, no Via. That it lasts until the ten minutes hold fewer is a guess.",
    source=RATE_LIMITS,
    known=Confidence.DOCUMENTED,
    status=429,
    limit=10_000,
)

# Where a call goes, and who may.

UNKNOWN_CHANNEL = Rule(
    name="unknown_channel",
    says="A channel that does not exist is refused.",
    source=OPCODES,
    known=Confidence.DOCUMENTED,
    status=404,
    code=10003,
    message="Unknown Channel",
)
UNKNOWN_MESSAGE = Rule(
    name="unknown_message",
    says="A message that does not exist, not there, not for this token, or not any more, is refused.",
    source=OPCODES,
    known=Confidence.DOCUMENTED,
    status=404,
    code=10008,
    message="Unknown Message",
)
UNKNOWN_USER = Rule(
    name="unknown_user",
    says="A user who does not exist is refused.",
    source=OPCODES,
    known=Confidence.DOCUMENTED,
    status=404,
    code=10013,
    message="Unknown User",
)
UNKNOWN_GUILD = Rule(
    name="unknown_guild",
    says="A guild that does not exist, or that the bot is not in, is refused.",
    source=OPCODES,
    known=Confidence.DOCUMENTED,
    status=404,
    code=10004,
    message="Unknown Guild",
)
UNKNOWN_APPLICATION = Rule(
    name="unknown_application",
    says="Commands are the bot's own app's.",
    source=OPCODES,
    known=Confidence.DOCUMENTED,
    status=404,
    code=10002,
    message="Unknown Application",
)
MISSING_ACCESS = Rule(
    name="missing_access",
    says="A channel of a guild that the bot is not in, or that it cannot view, is refused.",
    source=OPCODES,
    known=Confidence.DOCUMENTED,
    status=403,
    code=50001,
    message="Missing Access",
)
MISSING_PERMISSIONS = Rule(
    name="missing_permissions",
    says="Writing needs SEND_MESSAGES, reacting ADD_REACTIONS, deleting what others wrote MANAGE_MESSAGES.",
    source=f"{DOCS}/topics/permissions",
    known=Confidence.DOCUMENTED,
    status=403,
    code=50013,
    message="Missing Permissions",
)
THREAD_PERMISSIONS = Rule(
    name="thread_permissions",
    says="Writing into a thread needs SEND_MESSAGES_IN_THREADS in its parent, and not SEND_MESSAGES.",
    source=f"{DOCS}/topics/threads",
    known=Confidence.DOCUMENTED,
    status=403,
    code=50013,
    message="Missing Permissions",
)
REPLY_PERMISSIONS = Rule(
    name="reply_permissions",
    says="Replying needs READ_MESSAGE_HISTORY; without it a channel's messages are listed as none.",
    source=OPCODES,
    known=Confidence.DOCUMENTED,
    status=400,
    code=160002,
    message="Cannot reply without permission to read message history",
)
THREAD_OPENS = Rule(
    name="thread_opens",
    says="Sending into an archived thread opens it again.",
    source=f"{DOCS}/topics/threads",
    known=Confidence.DOCUMENTED,
)
THREAD_ARCHIVED = Rule(
    name="thread_archived",
    says="In an archived thread nothing can be edited or reacted to, and into a locked one nothing sent.",
    source=OPCODES,
    known=Confidence.CLAIMED,
    status=400,
    code=50083,
    message="Thread is archived",
)
USER_CLOSED = Rule(
    name="user_closed",
    says="A user who takes no direct messages gets none.",
    source=OPCODES,
    known=Confidence.DOCUMENTED,
    status=403,
    code=50007,
    message="Cannot send messages to this user",
)
UNKNOWN_RECIPIENT = Rule(
    name="unknown_recipient",
    says="Direct messages need a user who exists.",
    source=OPCODES,
    known=Confidence.DOCUMENTED,
    status=400,
    code=50033,
    message="Invalid Recipient(s)",
)
NOT_THE_AUTHOR = Rule(
    name="not_the_author",
    says="The bot can edit only its own messages.",
    source=OPCODES,
    known=Confidence.DOCUMENTED,
    status=403,
    code=50005,
    message="Cannot edit a message authored by another user",
)
NOT_IN_A_DM = Rule(
    name="not_in_a_dm",
    says="In direct messages the bot can delete only its own.",
    source=OPCODES,
    known=Confidence.DOCUMENTED,
    status=403,
    code=50003,
    message="Cannot execute action on a DM channel",
)
UNKNOWN_EMOJI = Rule(
    name="unknown_emoji",
    says="A reaction is an emoji; what one looks like is a guess: no letters, no digits alone. The same one twice is "
    "one.",
    source=OPCODES,
    known=Confidence.CLAIMED,
    status=400,
    code=10014,
    message="Unknown Emoji",
)

# What a message says.

CONTENT_LENGTH = Rule(
    name="content_length",
    says="content holds at most 2,000 code points.",
    source=f"{MESSAGE}#create-message, https://github.com/discord/discord-api-docs/issues/1315",
    known=Confidence.DOCUMENTED,
    status=400,
    code=50035,
    message="Must be 2000 or fewer in length.",
    limit=2_000,
)
EMPTY = Rule(
    name="empty",
    says="A message needs content, embeds, files or components; white space is none, also after an edit.",
    source=OPCODES,
    known=Confidence.DOCUMENTED,
    status=400,
    code=50006,
    message="Cannot send an empty message",
)
TRIMMED = Rule(
    name="trimmed",
    says="White space round the content is taken off. The length is counted before that, a guess.",
    source=f"{MESSAGE}#embed-object-embed-limits",
    known=Confidence.CLAIMED,
)
NONCE_LENGTH = Rule(
    name="nonce_length",
    says="A nonce holds at most 25 characters.",
    source=f"{MESSAGE}#create-message",
    known=Confidence.DOCUMENTED,
    status=400,
    code=50035,
    message="Must be 25 or fewer in length.",
    limit=25,
)
NONCE_ENFORCED = Rule(
    name="nonce_enforced",
    says="With enforce_nonce a nonce that the author has used in the channel in the past few minutes (here 3) brings "
    "back the first message, deleted or not, and posts nothing.",
    source=f"{MESSAGE}#create-message",
    known=Confidence.DOCUMENTED,
    limit=180,
)
EMBED_LIMITS = Rule(
    name="embed_limits",
    says="A message has at most 10 embeds with 6,000 characters in all: title 256, description 4,096, 25 fields of "
    "256 and 1,024, footer 2,048, author 256.",
    source=f"{MESSAGE}#embed-object-embed-limits",
    known=Confidence.DOCUMENTED,
    status=400,
    code=50035,
    message="Embed size exceeds maximum size of 6000",
    limit=6_000,
)
COMPONENT_LIMITS = Rule(
    name="component_limits",
    says="At most 5 rows of 5 buttons; custom_id 1 to 100 and no two alike, label at most 80 characters. A button "
    "has a style, and a label or an emoji.",
    source=f"{DOCS}/components/reference",
    known=Confidence.DOCUMENTED,
    status=400,
    code=50035,
    message="Must be between 1 and 5 in length.",
    limit=5,
)
COMPONENTS_V2 = Rule(
    name="components_v2",
    says="With IS_COMPONENTS_V2 there is neither content nor embeds, and at most 40 components and 4,000 characters.",
    source=f"{DOCS}/components/reference, {SDK}/ui/view.py",
    known=Confidence.DOCUMENTED,
    status=400,
    code=50035,
    message="The 'content' field cannot be used when using MessageFlags.IS_COMPONENTS_V2",
    limit=40,
)
COMPONENTS_V2_STAY = Rule(
    name="components_v2_stay",
    says="IS_COMPONENTS_V2 is never taken off.",
    source=f"{MESSAGE}#edit-message",
    known=Confidence.DOCUMENTED,
)
ALLOWED_MENTIONS = Rule(
    name="allowed_mentions",
    says="allowed_mentions.parse has users, roles and everyone; a list of ids (at most 100) excludes its kind.",
    source=f"{MESSAGE}#allowed-mentions-object",
    known=Confidence.DOCUMENTED,
    status=400,
    code=50035,
    message='parse:["users"] and users: [ids...] are mutually exclusive.',
    limit=100,
)
PINGS_BY_DEFAULT = Rule(
    name="pings_by_default",
    says="A channel message without allowed_mentions pings whom it names: users, roles, everyone, the author replied "
    "to. Escapes change nothing; in code it is reported as uncertain.",
    source=f"{MESSAGE}#allowed-mentions-object",
    known=Confidence.DOCUMENTED,
)
PINGS_OF_WEBHOOKS = Rule(
    name="pings_of_webhooks",
    says="An interaction's answer without allowed_mentions pings users only.",
    source=f"{MESSAGE}#allowed-mentions-object",
    known=Confidence.DOCUMENTED,
)
PINGS_OF_EDITS = Rule(
    name="pings_of_edits",
    says="Every edit without allowed_mentions is read with the defaults again.",
    source=f"{MESSAGE}#edit-message",
    known=Confidence.DOCUMENTED,
)
PREVIEWS = Rule(
    name="previews",
    says="A link shows a preview unless SUPPRESS_EMBEDS is set, or it stands in code or in pointed brackets; an edit "
    "with flags sets or clears that, one without leaves it.",
    source=f"{MESSAGE}#edit-message, {SDK}/message.py",
    known=Confidence.LAB,
)
REFERENCE_UNKNOWN = Rule(
    name="reference_unknown",
    says="A reply to a message that is not there is refused, unless fail_if_not_exists is false.",
    source=f"{MESSAGE}#message-reference-structure, https://github.com/claabs/markov-discord/issues/32",
    known=Confidence.MEASURED,
    status=400,
    code=50035,
    message="Unknown message",
)
OLD_EDITS = Rule(
    name="old_edits",
    says="Messages older than an hour take 3 edits in 6 seconds a channel; the headers do not tell.",
    source=f"{OPCODES}, https://github.com/discord-userdoccers/discord-userdoccers/pull/551",
    known=Confidence.CLAIMED,
    status=429,
    code=30046,
    message="Maximum number of edits to messages older than 1 hour reached. Try again later.",
    limit=3,
)
