from memory_node.delivery.context import Section, assemble, estimate_tokens


def test_budget_cuts_the_least_important_lines() -> None:
    section = Section("Facts", tuple(f"- fact {number} of several" for number in range(20)), 1.0)
    context = assemble([section], 40)
    assert "fact 0" in context.text
    assert "fact 19" not in context.text
    assert estimate_tokens(context.text) <= 40
    assert context.section_tokens == {"Facts": estimate_tokens(context.text)}


def test_what_one_section_leaves_over_goes_to_the_next() -> None:
    short, long = Section("A", ("- one",), 0.5), Section("B", tuple(f"- line {n}" for n in range(99)), 0.5)
    alone = assemble([Section("A", (), 0.5), long], 100).section_tokens["B"]
    after = assemble([short, long], 100).section_tokens["B"]
    assert after > 50
    assert alone >= after


def test_empty_section_leaves_no_title() -> None:
    assert assemble([Section("Nothing", (), 1.0)], 100).text == ""
