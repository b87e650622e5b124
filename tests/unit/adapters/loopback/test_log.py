from adapters.loopback.log import Call, CallLog


def test_the_log_keeps_refused_calls_and_prints_what_play_prints() -> None:
    log = CallLog()
    log.append(Call(t=0.12345, method="post", target="C1", status=200, arguments={"text": "not printed"}))
    log.append(Call(t=1, method="edit", target="C1/2", status=429, error="ratelimited", retry_after=3))
    assert len(log) == 2
    assert [call.method for call in log] == ["post", "edit"]
    assert log.rate_limited() == log.of("edit")
    assert log.to_json() == [
        {"t": 0.123, "method": "post", "target": "C1", "status": 200, "error": None, "retry_after": None},
        {"t": 1, "method": "edit", "target": "C1/2", "status": 429, "error": "ratelimited", "retry_after": 3},
    ]
