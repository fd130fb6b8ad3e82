from memory_node.llm.gbnf import Rules, literal, one_of_texts


def test_literal_escapes_what_would_end_it() -> None:
    assert literal('say "no"\\\n') == '"say \\"no\\"\\\\\\n"'


def test_letters_that_cannot_be_seen_are_numbers() -> None:
    assert literal("a\u202eb\x00") == '"a\\U0000202Eb\\U00000000"'


def test_shared_beginnings_are_written_once() -> None:
    assert one_of_texts(dict.fromkeys(["Pot", "Potato", "Pan", "Egg"], "")) == (
        '("Egg" | "P" ("an" | "ot" ("" | "ato")))'
    )


def test_each_text_goes_on_with_its_own() -> None:
    assert one_of_texts({"ab": "x", "ac": "y"}) == '"a" ("b" x | "c" y)'


def test_rules_are_told_in_their_order() -> None:
    rules = Rules()
    rules.add("root", "kind")
    rules.add_choice("kind", ["b", "a", "a"])
    assert rules.text() == 'root ::= kind\nkind ::= ("a" | "b")'
