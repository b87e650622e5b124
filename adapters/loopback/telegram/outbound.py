"""The rules about what the bot calls."""

from adapters.loopback.telegram.rule import API, CLIENT, ENTITIES, FAQ, LIVE, SERVER, Confidence, Rule

WRONG_TOKEN = Rule(
    name="wrong_token",
    says="A token that has the form of one and is nobody's is refused.",
    source=f"{API}#authorizing-your-bot",
    confidence=Confidence.MEASURED,
    error="Unauthorized",
)
MALFORMED_TOKEN = Rule(
    name="malformed_token",
    says="A token without the form of one (digits, a colon, a secret) leads nowhere.",
    source=f"{SERVER}/ClientManager.cpp",
    confidence=Confidence.READ,
    error="Not Found",
)
UNKNOWN_METHOD = Rule(
    name="unknown_method",
    says="A method that does not exist is not found; nor is any that this server does not have.",
    source=CLIENT,
    confidence=Confidence.READ,
    error="Not Found: method not found",
)
FLOOD = Rule(
    name="flood",
    says="A call over its budget answers 429 with retry_after in whole seconds in the body; the refused call "
    "costs nothing.",
    source=f"{API}#responseparameters, {FAQ}",
    confidence=Confidence.DOCUMENTED,
    error="Too Many Requests: retry after {}",
)
FLOOD_HOLDS = Rule(
    name="flood_holds",
    says="Whoever was told to wait, by its budget or by a fault, is told so again until the wait is over: sends "
    "and edits of a chat together, any other method by itself.",
    source=FAQ,
    confidence=Confidence.CLAIMED,
    error="Too Many Requests: retry after {}",
)
CHAT_EMPTY = Rule(
    name="chat_empty",
    says="A call about a chat names it.",
    source=LIVE,
    confidence=Confidence.MEASURED,
    error="Bad Request: chat_id is empty",
)
CHAT_UNKNOWN = Rule(
    name="chat_unknown",
    says="A chat that the bot has never met is not found.",
    source=LIVE,
    confidence=Confidence.MEASURED,
    error="Bad Request: chat not found",
)
BLOCKED = Rule(
    name="blocked",
    says="Who blocked the bot cannot be written to.",
    source=CLIENT,
    confidence=Confidence.READ,
    error="Forbidden: bot was blocked by the user",
)
NEVER_STARTED = Rule(
    name="never_started",
    says="The bot cannot begin a conversation: the user writes first.",
    source=CLIENT,
    confidence=Confidence.READ,
    error="Forbidden: bot can't initiate conversation with a user",
)
KICKED = Rule(
    name="kicked",
    says="A bot that was removed from a group cannot do anything there; the error names the kind of chat.",
    source=CLIENT,
    confidence=Confidence.READ,
    error="Forbidden: bot was kicked from the {} chat",
)
NOT_A_MEMBER = Rule(
    name="not_a_member",
    says="A bot that has left a group, or never was in it, cannot do anything there.",
    source=CLIENT,
    confidence=Confidence.READ,
    error="Forbidden: bot is not a member of the {} chat",
)
NO_RIGHT = Rule(
    name="no_right",
    says="A bot that is restricted cannot write.",
    source=CLIENT,
    confidence=Confidence.READ,
    error="Bad Request: not enough rights to send text messages to the chat",
)
MIGRATED = Rule(
    name="migrated",
    says="A group that became a supergroup is found no more; parameters.migrate_to_chat_id says where it went.",
    source=f"{API}#responseparameters",
    confidence=Confidence.DOCUMENTED,
    error="Bad Request: group chat was upgraded to a supergroup chat",
)
TEXT_EMPTY = Rule(
    name="text_empty",
    says="A message has text.",
    source=LIVE,
    confidence=Confidence.MEASURED,
    error="Bad Request: message text is empty",
)
TEXT_BLANK = Rule(
    name="text_blank",
    says="White space alone is no text.",
    source=LIVE,
    confidence=Confidence.MEASURED,
    error="Bad Request: text must be non-empty",
)
TEXT_LENGTH = Rule(
    name="text_length",
    says="Text holds at most 4,096 code points behind parsing and trimming. Whether the unit is UTF-16 is "
    "disputed: what fits only in code points is sent and marked over_utf16.",
    source=f"{API}#sendmessage, https://github.com/FerroxLabs/wayland/issues/934",
    confidence=Confidence.MEASURED,
    error="Bad Request: message is too long",
    limit=4_096,
)
TEXT_ENCODING = Rule(
    name="text_encoding",
    says="Text is Unicode: half a surrogate pair is none.",
    source=ENTITIES,
    confidence=Confidence.READ,
    error="Bad Request: strings must be encoded in UTF-8",
)
TEXT_CLEANED = Rule(
    name="text_cleaned",
    says="Text is shown without spaces and line ends at both ends, without carriage returns and U+2028 to U+202E, "
    "control characters as spaces; entities move along.",
    source=ENTITIES,
    confidence=Confidence.READ,
)
ENTITIES_FORMAT = Rule(
    name="entities_format",
    says="entities is a JSON list of objects with type, offset and length. The wording is a guess.",
    source=f"{API}#messageentity",
    confidence=Confidence.CLAIMED,
    error="Bad Request: can't parse entities JSON object",
)
ENTITY_TYPE = Rule(
    name="entity_type",
    says="An entity is of a known type.",
    source=LIVE,
    confidence=Confidence.MEASURED,
    error="Bad Request: can't parse MessageEntity: Unsupported type specified",
)
ENTITY_FIELD = Rule(
    name="entity_field",
    says="text_link has a url, text_mention a user, custom_emoji an id.",
    source=LIVE,
    confidence=Confidence.MEASURED,
    error="Bad Request: can't parse MessageEntity: Can't find field \"{}\"",
)
ENTITY_URL = Rule(
    name="entity_url",
    says="The url of a text_link is one that clients open: http or https with a dot in its host, tg, ton.",
    source=LIVE,
    confidence=Confidence.MEASURED,
    error="Bad Request: entity URL '{}' is invalid: {}",
)
ENTITY_USER = Rule(
    name="entity_user",
    says="The user of a text_mention is one the bot knows.",
    source=LIVE,
    confidence=Confidence.MEASURED,
    error="Bad Request: user not found",
)
ENTITY_OFFSET = Rule(
    name="entity_offset",
    says="Offset and length are counted in UTF-16 units, from 0 to 1,000,000.",
    source=f"{API}#messageentity, {LIVE}",
    confidence=Confidence.MEASURED,
    error="Bad Request: receive an entity with incorrect {} {}",
    limit=1_000_000,
)
ENTITY_BEGIN = Rule(
    name="entity_begin",
    says="No entity begins behind the text.",
    source=LIVE,
    confidence=Confidence.MEASURED,
    error="Bad Request: entity begins after the end of the text at UTF-16 offset {}",
)
ENTITY_END = Rule(
    name="entity_end",
    says="No entity ends behind the text.",
    source=LIVE,
    confidence=Confidence.MEASURED,
    error="Bad Request: entity beginning at UTF-16 offset {} ends after the end of the text at UTF-16 offset {}",
)
ENTITY_SPLITS = Rule(
    name="entity_splits",
    says="No entity begins or ends inside a surrogate pair.",
    source=ENTITIES,
    confidence=Confidence.READ,
    error="Bad Request: entity {} in a middle of a UTF-16 symbol at byte offset {}",
)
ENTITY_COUNT = Rule(
    name="entity_count",
    says="The first 100 entities are shown, the rest is left out in silence; Content.ignored has it.",
    source="python-telegram-bot's constants.MessageLimit.MESSAGE_ENTITIES",
    confidence=Confidence.READ,
    limit=100,
)
ENTITY_REPAIRED = Rule(
    name="entity_repaired",
    says="Entities that cross, nested quotes, anything inside code, links in links, blank and empty ones break "
    "the documented rules; the server drops or cuts them in silence. Content.flaws has each.",
    source=f"{API}#formatting-options, {ENTITIES}",
    confidence=Confidence.READ,
)
PARSE_MODE = Rule(
    name="parse_mode",
    says="parse_mode is HTML, Markdown or MarkdownV2, in any case.",
    source=LIVE,
    confidence=Confidence.MEASURED,
    error="Bad Request: unsupported parse_mode",
)
MARKUP = Rule(
    name="markup",
    says="Markup that does not parse is refused: unclosed entities, unescaped reserved characters, unknown or "
    "unmatched tags.",
    source=LIVE,
    confidence=Confidence.MEASURED,
    error="Bad Request: can't parse entities: {}",
)
THREAD_UNKNOWN = Rule(
    name="thread_unknown",
    says="message_thread_id names a topic that stands; a group without topics has none.",
    source=LIVE,
    confidence=Confidence.MEASURED,
    error="Bad Request: message thread not found",
)
GENERAL_TOPIC = Rule(
    name="general_topic",
    says="General is a forum's topic 1 and is written to without a thread id: 1 is refused, except for chat actions.",
    source="https://github.com/openclaw/openclaw/issues/1339, https://github.com/tdlib/telegram-bot-api/issues/447",
    confidence=Confidence.MEASURED,
    error="Bad Request: message thread not found",
)
REPLY_FORMAT = Rule(
    name="reply_format",
    says="reply_parameters has a message_id.",
    source=LIVE,
    confidence=Confidence.MEASURED,
    error='Bad Request: can\'t find field "message_id"',
)
REPLY_GONE = Rule(
    name="reply_gone",
    says="What is replied to stands, unless allow_sending_without_reply lets the message go without it.",
    source=LIVE,
    confidence=Confidence.MEASURED,
    error="Bad Request: message to be replied not found",
)
MESSAGE_UNNAMED = Rule(
    name="message_unnamed",
    says="An edit or a deletion names its message.",
    source=CLIENT,
    confidence=Confidence.READ,
    error="Bad Request: message identifier is not specified",
)
EDIT_GONE = Rule(
    name="edit_gone",
    says="An edit needs a message that stands.",
    source=CLIENT,
    confidence=Confidence.READ,
    error="Bad Request: message to edit not found",
)
EDIT_FOREIGN = Rule(
    name="edit_foreign",
    says="The bot edits only its own messages.",
    source=CLIENT,
    confidence=Confidence.READ,
    error="Bad Request: message can't be edited",
)
EDIT_SAME = Rule(
    name="edit_same",
    says="An edit that changes nothing shown is refused; white space at the ends is not shown.",
    source=CLIENT,
    confidence=Confidence.READ,
    error="Bad Request: message is not modified: specified new message content and reply markup are exactly the "
    "same as a current content and reply markup of the message",
)
EDIT_KEYBOARD = Rule(
    name="edit_keyboard",
    says="An edit without reply_markup takes the inline keyboard away.",
    source=f"{API}#editmessagetext",
    confidence=Confidence.CLAIMED,
)
DELETE_GONE = Rule(
    name="delete_gone",
    says="A deletion needs a message that stands.",
    source=CLIENT,
    confidence=Confidence.READ,
    error="Bad Request: message to delete not found",
)
DELETE_FORBIDDEN = Rule(
    name="delete_forbidden",
    says="In a group the bot deletes others' messages only as an administrator who may; in private chats any, of "
    "whoever.",
    source=f"{API}#deletemessage",
    confidence=Confidence.DOCUMENTED,
    error="Bad Request: message can't be deleted",
)
DELETE_LATE = Rule(
    name="delete_late",
    says="After 48 hours nothing can be deleted.",
    source=f"{API}#deletemessage",
    confidence=Confidence.DOCUMENTED,
    error="Bad Request: message can't be deleted",
    limit=172_800,
)
KEYBOARD_FORMAT = Rule(
    name="keyboard_format",
    says="reply_markup is a JSON object; inline_keyboard a list of rows of buttons, each with text and one kind "
    "of action.",
    source=LIVE,
    confidence=Confidence.MEASURED,
    error="Bad Request: can't parse inline keyboard button: {}",
)
CALLBACK_DATA = Rule(
    name="callback_data",
    says="callback_data holds 1 to 64 bytes.",
    source=f"{API}#inlinekeyboardbutton, {LIVE}",
    confidence=Confidence.MEASURED,
    error="Bad Request: BUTTON_DATA_INVALID",
    limit=64,
)
BUTTON_TEXT = Rule(
    name="button_text",
    says="A button has text on it, or may be left out in silence; refusing it is the stricter guess.",
    source=f"{API}#inlinekeyboardbutton",
    confidence=Confidence.CLAIMED,
    error="Bad Request: BUTTON_TEXT_INVALID",
)
BUTTON_STYLE = Rule(
    name="button_style",
    says="A button's style is danger, success or primary. The wording is a guess.",
    source=f"{API}#inlinekeyboardbutton",
    confidence=Confidence.CLAIMED,
    error="Bad Request: can't parse inline keyboard button: unsupported style specified",
)
QUERY_OLD = Rule(
    name="query_old",
    says="A button press is answered within a few seconds, here 5 real ones, and once: the stricter guesses; and "
    "only one that there was.",
    source="https://github.com/eternnoir/pyTelegramBotAPI/issues/1615",
    confidence=Confidence.CLAIMED,
    error="Bad Request: query is too old and response timeout expired or query ID is invalid",
    limit=5,
)
QUERY_TEXT = Rule(
    name="query_text",
    says="The text of such an answer holds at most 200 characters.",
    source=f"{API}#answercallbackquery",
    confidence=Confidence.DOCUMENTED,
    error="Bad Request: MESSAGE_TOO_LONG",
    limit=200,
)
ACTION_LIFE = Rule(
    name="action_life",
    says="A chat action shows for 5 seconds, or until the bot's next message there.",
    source=f"{API}#sendchataction",
    confidence=Confidence.DOCUMENTED,
    limit=5,
)
ACTION_UNKNOWN = Rule(
    name="action_unknown",
    says="A chat action is a known one.",
    source=CLIENT,
    confidence=Confidence.READ,
    error="Bad Request: wrong parameter action in request",
)
COMMAND_NAME = Rule(
    name="command_name",
    says="A command's name is 1 to 32 of a-z, 0-9 and _.",
    source=f"{API}#botcommand",
    confidence=Confidence.MEASURED,
    error="Bad Request: BOT_COMMAND_INVALID",
    limit=32,
)
COMMAND_DESCRIPTION = Rule(
    name="command_description",
    says="A command's description holds 1 to 256 characters.",
    source=f"{API}#botcommand",
    confidence=Confidence.DOCUMENTED,
    error="Bad Request: BOT_COMMAND_DESCRIPTION_INVALID",
    limit=256,
)
COMMAND_COUNT = Rule(
    name="command_count",
    says="At most 100 commands are set.",
    source=f"{API}#setmycommands",
    confidence=Confidence.MEASURED,
    error="Bad Request: BOT_COMMANDS_TOO_MUCH",
    limit=100,
)

RULES: tuple[Rule, ...] = (
    WRONG_TOKEN,
    MALFORMED_TOKEN,
    UNKNOWN_METHOD,
    FLOOD,
    FLOOD_HOLDS,
    CHAT_EMPTY,
    CHAT_UNKNOWN,
    BLOCKED,
    NEVER_STARTED,
    KICKED,
    NOT_A_MEMBER,
    NO_RIGHT,
    MIGRATED,
    TEXT_EMPTY,
    TEXT_BLANK,
    TEXT_LENGTH,
    TEXT_ENCODING,
    TEXT_CLEANED,
    ENTITIES_FORMAT,
    ENTITY_TYPE,
    ENTITY_FIELD,
    ENTITY_URL,
    ENTITY_USER,
    ENTITY_OFFSET,
    ENTITY_BEGIN,
    ENTITY_END,
    ENTITY_SPLITS,
    ENTITY_COUNT,
    ENTITY_REPAIRED,
    PARSE_MODE,
    MARKUP,
    THREAD_UNKNOWN,
    GENERAL_TOPIC,
    REPLY_FORMAT,
    REPLY_GONE,
    MESSAGE_UNNAMED,
    EDIT_GONE,
    EDIT_FOREIGN,
    EDIT_SAME,
    EDIT_KEYBOARD,
    DELETE_GONE,
    DELETE_FORBIDDEN,
    DELETE_LATE,
    KEYBOARD_FORMAT,
    CALLBACK_DATA,
    BUTTON_TEXT,
    BUTTON_STYLE,
    QUERY_OLD,
    QUERY_TEXT,
    ACTION_LIFE,
    ACTION_UNKNOWN,
    COMMAND_NAME,
    COMMAND_DESCRIPTION,
    COMMAND_COUNT,
)
