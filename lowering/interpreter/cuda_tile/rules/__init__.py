"""How each op is executed: a rule for its type makes the step that runs it."""
