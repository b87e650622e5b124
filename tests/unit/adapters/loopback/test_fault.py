from adapters.loopback.fault import Failure, Fate, FaultPlan


def test_faults_are_used_once_each_in_order_and_by_method() -> None:
    plan, busy, gone = FaultPlan(), Failure(error="busy"), Failure(error="gone")
    plan.fail("post", busy, times=2)
    plan.fail("post", gone)
    plan.delay("post", 1.5)
    plan.hold("post", 2.5, times=2)
    assert plan.take("edit") == Fate()
    assert [plan.take("post") for _ in range(4)] == [
        Fate(failure=busy, delay=1.5, hold=2.5),
        Fate(failure=busy, hold=2.5),
        Fate(failure=gone),
        Fate(),
    ]
