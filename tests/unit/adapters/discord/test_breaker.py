from adapters.discord.breaker import MOST, WINDOW, Breaker


def test_after_so_many_invalid_requests_nothing_is_sent_until_they_are_forgotten() -> None:
    breaker = Breaker()
    told = [breaker.add(now=float(second) / 10) for second in range(MOST)]
    assert told == [False] * (MOST - 1) + [True]
    assert breaker.wait(now=MOST / 10) == WINDOW - 0.1
    assert breaker.wait(now=MOST / 10 + WINDOW) == 0
    assert not breaker.add(now=MOST / 10 + WINDOW)


def test_those_that_are_long_past_do_not_count() -> None:
    breaker = Breaker()
    for number in range(MOST * 2):
        breaker.add(now=number * (WINDOW / (MOST - 2)))
    assert breaker.wait(now=MOST * 2 * (WINDOW / (MOST - 2))) == 0
