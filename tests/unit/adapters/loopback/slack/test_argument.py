from adapters.loopback.slack.argument import Arguments


def test_json_and_form_read_alike() -> None:
    as_json = Arguments({"flag": True, "number": 5, "list": [1], "object": {"a": 1}, "text": "x", "nothing": None})
    as_form = Arguments({"flag": "1", "number": "5", "list": "[1]", "object": '{"a": 1}', "text": "x"})
    for arguments in (as_json, as_form):
        assert arguments.flag("flag") is True
        assert arguments.number("number", 9) == 5
        assert arguments.sequence("list") == [1]
        assert arguments.mapping("object") == {"a": 1}
        assert arguments.text("text") == "x"
        assert "nothing" not in arguments


def test_what_is_absent_is_told_from_what_is_wrong() -> None:
    arguments = Arguments({"list": "{", "object": "[]", "number": "many", "text": ["x"], "empty": "", "off": "false"})
    assert (arguments.sequence("gone"), arguments.mapping("gone"), arguments.flag("gone")) == ([], {}, None)
    assert (arguments.sequence("list"), arguments.mapping("object")) == (None, None)
    assert (arguments.sequence("empty"), arguments.flag("off")) == ([], False)
    assert (arguments.number("number", 9), arguments.text("text"), arguments.text("gone")) == (9, "", "")
