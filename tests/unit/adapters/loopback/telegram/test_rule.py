import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from adapters.loopback.telegram import inbound, outbound
from adapters.loopback.telegram.answer import RefusedError, refused
from adapters.loopback.telegram.rule import Rule

RULES = (*outbound.RULES, *inbound.RULES)
README = Path(outbound.__file__).with_name("README.md")
TESTS = Path(__file__).parents[4]

# Each rule and a test that fails without it.
PROOFS: Mapping[Rule, str] = {
    outbound.WRONG_TOKEN: "test_the_token_is_wrong_malformed_or_right_and_never_in_the_log",
    outbound.MALFORMED_TOKEN: "test_the_token_is_wrong_malformed_or_right_and_never_in_the_log",
    outbound.UNKNOWN_METHOD: "test_a_method_that_does_not_exist_is_not_found",
    outbound.FLOOD: "test_too_many_messages_in_a_chat_are_told_to_wait_in_platform_seconds",
    outbound.FLOOD_HOLDS: "test_who_was_told_to_wait_is_told_so_until_it_is_over",
    outbound.CHAT_EMPTY: "test_a_message_that_breaks_a_rule_is_refused_and_writes_nothing",
    outbound.CHAT_UNKNOWN: "test_a_message_that_breaks_a_rule_is_refused_and_writes_nothing",
    outbound.BLOCKED: "test_where_the_bot_is_not_wanted_it_can_do_nothing",
    outbound.NEVER_STARTED: "test_where_the_bot_is_not_wanted_it_can_do_nothing",
    outbound.KICKED: "test_where_the_bot_is_not_wanted_it_can_do_nothing",
    outbound.NOT_A_MEMBER: "test_where_the_bot_is_not_wanted_it_can_do_nothing",
    outbound.NO_RIGHT: "test_a_message_that_breaks_a_rule_is_refused_and_writes_nothing",
    outbound.MIGRATED: "test_a_group_that_was_upgraded_says_where_it_went",
    outbound.TEXT_EMPTY: "test_a_message_that_breaks_a_rule_is_refused_and_writes_nothing",
    outbound.TEXT_BLANK: "test_a_message_that_breaks_a_rule_is_refused_and_writes_nothing",
    outbound.TEXT_LENGTH: "test_4096_code_points_are_sent_and_marked_if_they_are_more_utf16_units",
    outbound.TEXT_ENCODING: "test_half_a_character_is_refused",
    outbound.TEXT_CLEANED: "test_text_is_shown_without_what_telegram_takes_away",
    outbound.ENTITIES_FORMAT: "test_an_entity_that_is_malformed_is_refused",
    outbound.ENTITY_TYPE: "test_an_entity_that_is_malformed_is_refused",
    outbound.ENTITY_FIELD: "test_an_entity_that_is_malformed_is_refused",
    outbound.ENTITY_URL: "test_a_link_needs_an_address_that_clients_open",
    outbound.ENTITY_USER: "test_an_entity_that_is_malformed_is_refused",
    outbound.ENTITY_OFFSET: "test_an_entity_that_is_malformed_is_refused",
    outbound.ENTITY_BEGIN: "test_an_entity_outside_the_text_or_inside_a_character_is_refused",
    outbound.ENTITY_END: "test_an_entity_outside_the_text_or_inside_a_character_is_refused",
    outbound.ENTITY_SPLITS: "test_an_entity_outside_the_text_or_inside_a_character_is_refused",
    outbound.ENTITY_COUNT: "test_entities_beyond_the_hundredth_are_not_shown",
    outbound.ENTITY_REPAIRED: "test_what_breaks_the_documented_rules_is_mended_and_reported",
    outbound.PARSE_MODE: "test_a_message_that_breaks_a_rule_is_refused_and_writes_nothing",
    outbound.MARKUP: "test_markup_that_does_not_parse_is_refused",
    outbound.THREAD_UNKNOWN: "test_a_topic_is_written_to_by_its_id_and_general_without",
    outbound.GENERAL_TOPIC: "test_a_topic_is_written_to_by_its_id_and_general_without",
    outbound.REPLY_FORMAT: "test_a_message_that_breaks_a_rule_is_refused_and_writes_nothing",
    outbound.REPLY_GONE: "test_a_reply_to_what_is_gone_needs_leave",
    outbound.MESSAGE_UNNAMED: "test_an_edit_needs_a_message_of_the_bots_own_that_stands",
    outbound.EDIT_GONE: "test_an_edit_needs_a_message_of_the_bots_own_that_stands",
    outbound.EDIT_FOREIGN: "test_an_edit_needs_a_message_of_the_bots_own_that_stands",
    outbound.EDIT_SAME: "test_an_edit_that_changes_nothing_shown_is_refused",
    outbound.EDIT_KEYBOARD: "test_an_edit_takes_the_keyboard_away_unless_it_brings_one",
    outbound.DELETE_GONE: "test_a_deletion_needs_a_message_that_stands_and_the_right",
    outbound.DELETE_FORBIDDEN: "test_a_deletion_needs_a_message_that_stands_and_the_right",
    outbound.DELETE_LATE: "test_a_deletion_needs_a_message_that_stands_and_the_right",
    outbound.KEYBOARD_FORMAT: "test_a_malformed_keyboard_is_refused",
    outbound.CALLBACK_DATA: "test_a_malformed_keyboard_is_refused",
    outbound.BUTTON_TEXT: "test_a_malformed_keyboard_is_refused",
    outbound.BUTTON_STYLE: "test_a_malformed_keyboard_is_refused",
    outbound.QUERY_OLD: "test_a_press_is_answered_in_time_and_once_there_was_one",
    outbound.QUERY_TEXT: "test_a_press_is_answered_in_time_and_once_there_was_one",
    outbound.ACTION_LIFE: "test_typing_shows_for_five_platform_seconds_or_until_the_next_message",
    outbound.ACTION_UNKNOWN: "test_typing_shows_for_five_platform_seconds_or_until_the_next_message",
    outbound.COMMAND_NAME: "test_commands_that_break_a_rule_are_refused",
    outbound.COMMAND_DESCRIPTION: "test_commands_that_break_a_rule_are_refused",
    outbound.COMMAND_COUNT: "test_commands_that_break_a_rule_are_refused",
    inbound.ONE_POLLER: "test_a_second_poller_ends_the_first",
    inbound.POLL_OR_WEBHOOK: "test_nobody_polls_while_a_webhook_is_set",
    inbound.WEBHOOK_ENDS_POLL: "test_nobody_polls_while_a_webhook_is_set",
    inbound.CONFIRMED: "test_an_update_comes_again_until_a_later_one_is_asked_for",
    inbound.POLL_LIMITS: "test_a_poll_waits_at_most_50_seconds",
    inbound.KEPT: "test_what_nobody_fetches_is_dropped_after_a_day",
    inbound.ALLOWED_UPDATES: "test_only_allowed_updates_are_made_from_then_on",
    inbound.WEBHOOK_URL: "test_a_webhook_that_breaks_a_rule_is_refused",
    inbound.WEBHOOK_SECRET: "test_a_webhook_that_breaks_a_rule_is_refused",
    inbound.WEBHOOK_AGAIN: "test_a_webhook_is_tried_again_after_delays_that_double_to_a_minute",
    inbound.PRIVACY: "test_in_a_group_the_bot_gets_only_what_is_meant_for_it",
    inbound.SILENT_DELETION: "test_a_deletion_tells_the_bot_nothing",
    inbound.NOT_BACK: "test_what_the_bot_does_does_not_come_back_but_what_other_bots_write_does",
    inbound.TOPIC_FIELDS: "test_a_topics_message_names_its_topic_and_the_message_that_opened_it",
    inbound.REPLY_THREAD: "test_a_reply_in_a_plain_supergroup_carries_a_thread_that_cannot_be_written_to",
    inbound.ALBUM_PARTS: "test_an_albums_pictures_come_one_by_one_under_one_id",
    inbound.CLIENT_SPLITS: "test_a_client_cuts_what_is_pasted_at_4096_utf16_units",
    inbound.PINGS: "test_whoever_would_be_notified_is_found",
    inbound.PREVIEWS: "test_pings_and_previews_of_every_version_are_reported",
}


def row_of(each: Rule) -> str:
    sources = ", ".join(f"<{part}>" if part.startswith("http") else part for part in each.source.split(", "))
    error = f"`{each.error}`" if each.error else ""
    says = each.says.replace("<", "\\<").replace("*", "\\*")
    return f"| {each.name} | {says} | {error} | {each.confidence.value} | {sources} |"


def test_every_rule_has_a_name_of_its_own_and_a_source() -> None:
    assert len({each.name for each in RULES}) == len(RULES)
    assert all(each.says.endswith(".") and each.source for each in RULES)


def test_every_rule_is_proved_by_a_test_that_exists() -> None:
    files = [*TESTS.glob("e2e/test_loopback_telegram*.py"), *Path(__file__).parent.glob("test_*.py")]
    written = set(re.findall(r"def (test_\w+)", "".join(file.read_text() for file in files)))
    assert PROOFS.keys() == set(RULES)
    assert set(PROOFS.values()) <= written


@pytest.mark.parametrize("module", [outbound, inbound])
def test_every_rule_of_the_module_is_in_the_table(module: object) -> None:
    rules: tuple[Rule, ...] = getattr(module, "RULES", ())
    assert {id(value) for value in vars(module).values() if isinstance(value, Rule)} == {id(each) for each in rules}


def test_the_readme_shows_every_rule_as_it_is() -> None:
    shown = [line for line in README.read_text().splitlines() if line.startswith("| ") and line.count("|") == 6]
    assert shown[1:] == [row_of(each) for each in RULES]


@pytest.mark.parametrize("each", [each for each in RULES if each.error], ids=lambda each: each.name)
def test_the_code_of_an_error_fits_its_words(each: Rule) -> None:
    answer = refused(RefusedError(each, *["x"] * each.error.count("{}")))
    codes = {"Bad": 400, "Unauthorized": 401, "Forbidden:": 403, "Not": 404, "Conflict:": 409, "Too": 429}
    assert answer.status == answer.body["error_code"] == codes[each.error.split(maxsplit=1)[0]]
    assert answer.error is not None
    assert "{" not in answer.error
