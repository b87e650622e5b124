"""A fourth platform: what it takes to add one. See ``tests.contract.test_fourth``."""
