"""How long things take, compared within one run."""
