"""The tests; README.md beside this file says how they are sorted."""
