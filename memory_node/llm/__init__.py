"""Language models: one client, one ask-validate-repair loop, grammars."""
