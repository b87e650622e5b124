"""The rules about what the bot is told, and what is seen of what it says."""

from adapters.loopback.telegram.rule import API, CLIENT, ENTITIES, SERVER, Confidence, Rule

ONE_POLLER = Rule(
    name="one_poller",
    says="A second getUpdates ends the one that waits.",
    source=f"{API}#getupdates",
    confidence=Confidence.DOCUMENTED,
    error="Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
)
POLL_OR_WEBHOOK = Rule(
    name="poll_or_webhook",
    says="While a webhook is set nobody can poll.",
    source=f"{API}#getupdates",
    confidence=Confidence.DOCUMENTED,
    error="Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook "
    "first",
)
WEBHOOK_ENDS_POLL = Rule(
    name="webhook_ends_poll",
    says="setWebhook ends the poll that waits.",
    source=CLIENT,
    confidence=Confidence.READ,
    error="Conflict: terminated by setWebhook request",
)
CONFIRMED = Rule(
    name="confirmed",
    says="An update is forgotten once it is asked for a later one; until then it comes again. A negative offset "
    "counts from the end and forgets the rest.",
    source=f"{API}#getupdates",
    confidence=Confidence.DOCUMENTED,
)
POLL_LIMITS = Rule(
    name="poll_limits",
    says="getUpdates gives at most 100 updates and waits at most 50 real seconds.",
    source=f"{API}#getupdates, {SERVER}/Client.h",
    confidence=Confidence.READ,
    limit=50,
)
KEPT = Rule(
    name="kept",
    says="What nobody fetches is dropped after 24 hours.",
    source=f"{API}#getting-updates",
    confidence=Confidence.DOCUMENTED,
    limit=86_400,
)
ALLOWED_UPDATES = Rule(
    name="allowed_updates",
    says="Only allowed types of update are made from then on; by default all but chat_member and reactions.",
    source=f"{API}#getupdates",
    confidence=Confidence.DOCUMENTED,
)
WEBHOOK_URL = Rule(
    name="webhook_url",
    says="A webhook's address is https; here also http on this machine.",
    source=f"{API}#setwebhook",
    confidence=Confidence.DOCUMENTED,
    error="Bad Request: bad webhook: An HTTPS URL must be provided for webhook",
)
WEBHOOK_SECRET = Rule(
    name="webhook_secret",
    says="secret_token is 1 to 256 of A-Z, a-z, 0-9, _ and -; it comes in X-Telegram-Bot-Api-Secret-Token.",
    source=f"{API}#setwebhook",
    confidence=Confidence.DOCUMENTED,
    error="Bad Request: secret token contains unallowed characters",
    limit=256,
)
WEBHOOK_AGAIN = Rule(
    name="webhook_again",
    says="What is not answered with 2xx comes again after 1 second, then doubling to 60, or when Retry-After "
    "says; the updates of one chat stay in order.",
    source=f"{SERVER}/WebhookActor.cpp",
    confidence=Confidence.READ,
    limit=60,
)
PRIVACY = Rule(
    name="privacy",
    says="In a group the bot gets what begins with a command for it, replies to it, mentions and service messages "
    "only, unless it is an administrator or may read all. A command without a name is for the bot that wrote "
    "last.",
    source="https://core.telegram.org/bots/features#privacy-mode",
    confidence=Confidence.DOCUMENTED,
)
SILENT_DELETION = Rule(
    name="silent_deletion",
    says="A deletion tells the bot nothing.",
    source=f"{API}#update",
    confidence=Confidence.DOCUMENTED,
)
NOT_BACK = Rule(
    name="not_back",
    says="What the bot writes does not come back to it; what another bot writes does, the stricter guess.",
    source="https://core.telegram.org/bots/faq",
    confidence=Confidence.CLAIMED,
)
TOPIC_FIELDS = Rule(
    name="topic_fields",
    says="What is written in a topic carries message_thread_id, is_topic_message and, if it is no reply, the "
    "topic's first service message as reply_to_message.",
    source=f"{API}#message, https://github.com/python-telegram-bot/python-telegram-bot/issues/4000",
    confidence=Confidence.CLAIMED,
)
REPLY_THREAD = Rule(
    name="reply_thread",
    says="A reply in a supergroup without topics carries a message_thread_id all the same, which cannot be written to.",
    source=f"{API}#message, https://github.com/tdlib/telegram-bot-api/issues/798",
    confidence=Confidence.CLAIMED,
)
ALBUM_PARTS = Rule(
    name="album_parts",
    says="Each picture of an album is a message and an update of its own; one media_group_id holds them together.",
    source=f"{API}#message",
    confidence=Confidence.DOCUMENTED,
)
CLIENT_SPLITS = Rule(
    name="client_splits",
    says="A client cuts what a user pastes into messages of 4,096 UTF-16 units.",
    source="https://github.com/NousResearch/hermes-agent/pull/105447",
    confidence=Confidence.CLAIMED,
    limit=4_096,
)
PINGS = Rule(
    name="pings",
    says="@name notifies, sent as an entity or not, unless it stands in code or a link or is broken by a "
    "character behind the @; so do text_mention and tg://user links.",
    source=f"{API}#formatting-options, {ENTITIES}",
    confidence=Confidence.DOCUMENTED,
)
PREVIEWS = Rule(
    name="previews",
    says="The first link of a message gets a preview unless link_preview_options.is_disabled.",
    source=f"{API}#linkpreviewoptions",
    confidence=Confidence.DOCUMENTED,
)

RULES: tuple[Rule, ...] = (
    ONE_POLLER,
    POLL_OR_WEBHOOK,
    WEBHOOK_ENDS_POLL,
    CONFIRMED,
    POLL_LIMITS,
    KEPT,
    ALLOWED_UPDATES,
    WEBHOOK_URL,
    WEBHOOK_SECRET,
    WEBHOOK_AGAIN,
    PRIVACY,
    SILENT_DELETION,
    NOT_BACK,
    TOPIC_FIELDS,
    REPLY_THREAD,
    ALBUM_PARTS,
    CLIENT_SPLITS,
    PINGS,
    PREVIEWS,
)
