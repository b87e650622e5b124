"""The rules of the gateway, as data."""

from adapters.loopback.discord.rule import GATEWAY, OPCODES, SDK, Confidence, Rule

GATEWAY_TOKEN = Rule(
    name="gateway_token",
    says="IDENTIFY and RESUME need the bot's token.",
    source=OPCODES,
    known=Confidence.DOCUMENTED,
    close=4004,
)
INTENTS = Rule(
    name="intents",
    says="Privileged intents that the app does not have are refused.",
    source=OPCODES,
    known=Confidence.DOCUMENTED,
    close=4014,
)
EVENTS_BY_INTENT = Rule(
    name="events_by_intent",
    says="A session gets the events of its intents only: guilds, guild messages, direct messages; interactions always.",
    source=f"{GATEWAY}#gateway-intents",
    known=Confidence.DOCUMENTED,
)
MESSAGE_CONTENT = Rule(
    name="message_content",
    says="Without the message-content intent content, embeds, attachments and components are empty, unless the "
    "message mentions the bot, is a direct one, or the bot's own; in listings, too.",
    source=f"{GATEWAY}#message-content-intent",
    known=Confidence.DOCUMENTED,
)
MEMBER_FLAGS = Rule(
    name="member_flags",
    says="Member objects have flags; without them discord.py's connection ends.",
    source=f"{SDK}/member.py",
    known=Confidence.LAB,
)
HEARTBEATS = Rule(
    name="heartbeats",
    says="HELLO names the interval, every heartbeat is acknowledged.",
    source=f"{GATEWAY}#sending-heartbeats",
    known=Confidence.DOCUMENTED,
)
PAYLOADS = Rule(
    name="payloads",
    says="A payload is a JSON object of at most 4,096 bytes.",
    source=f"{GATEWAY}#sending-events",
    known=Confidence.DOCUMENTED,
    close=4002,
    limit=4_096,
)
OPERATIONS = Rule(
    name="operations",
    says="Operations that do not exist are refused.",
    source=OPCODES,
    known=Confidence.DOCUMENTED,
    close=4001,
)
IDENTIFIED_FIRST = Rule(
    name="identified_first",
    says="Before IDENTIFY or RESUME only heartbeats are taken.",
    source=OPCODES,
    known=Confidence.DOCUMENTED,
    close=4003,
)
IDENTIFIED_ONCE = Rule(
    name="identified_once",
    says="A connection identifies once.",
    source=OPCODES,
    known=Confidence.DOCUMENTED,
    close=4005,
)
SENDS = Rule(
    name="sends",
    says="A connection sends at most 120 payloads in 60 real seconds.",
    source=f"{GATEWAY}#rate-limiting",
    known=Confidence.DOCUMENTED,
    close=4008,
    limit=120,
)
IDENTIFY_PACE = Rule(
    name="identify_pace",
    says="One IDENTIFY in 5 platform seconds (and one more, for jitter); another is answered by op 9.",
    source=f"{GATEWAY}#rate-limiting",
    known=Confidence.DOCUMENTED,
    limit=5,
)
IDENTIFY_BUDGET = Rule(
    name="identify_budget",
    says="1,000 IDENTIFYs in 24 hours; with the next the token is reset, and opens nothing any more.",
    source=f"{GATEWAY}#rate-limiting",
    known=Confidence.DOCUMENTED,
    close=4004,
    limit=1_000,
)
RESUME_REPLAYS = Rule(
    name="resume_replays",
    says="RESUME brings all dispatches after seq, in order, then RESUMED; READY says where to.",
    source=f"{GATEWAY}#resuming",
    known=Confidence.DOCUMENTED,
)
RESUME_UNKNOWN = Rule(
    name="resume_unknown",
    says="A session that is not there any more cannot be resumed: op 9 with false.",
    source=f"{GATEWAY}#resuming",
    known=Confidence.DOCUMENTED,
)
RESUME_SEQ = Rule(
    name="resume_seq",
    says="A seq that was never sent ends the session.",
    source=OPCODES,
    known=Confidence.DOCUMENTED,
    close=4007,
)
CLOSE_ENDS = Rule(
    name="close_ends",
    says="A client that closes with 1000 or 1001 ends its session.",
    source=f"{GATEWAY}#disconnecting",
    known=Confidence.DOCUMENTED,
)
