use super::*;

#[test]
fn changes_the_named_limit_only() {
    let budget = Budget::default();
    let changed = "max_steps=40".parse::<BudgetChange>().unwrap().apply(&budget);
    assert_eq!(changed, Budget { max_steps: 40, ..budget.clone() });
    let changed = "deadline = 2h".parse::<BudgetChange>().unwrap().apply(&budget);
    assert_eq!(changed, Budget { deadline_ms: 7_200_000, ..budget.clone() });
    let changed = "max_repeated_turns=0".parse::<BudgetChange>().unwrap().apply(&budget);
    assert_eq!(changed, Budget { max_repeated_turns: 0, ..budget });
}

#[test]
fn says_what_is_wrong() {
    for (text, says) in [
        ("max_steps", "key=value"),
        ("steps=3", "the budgets are max_steps"),
        ("max_steps=-1", "a whole number"),
        ("deadline=40", "a duration"),
    ] {
        assert!(text.parse::<BudgetChange>().unwrap_err().to_string().contains(says), "{text}");
    }
}
