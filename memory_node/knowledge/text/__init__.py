"""How texts become sentences, words, names and dates; rules, no model."""
