//! What a model's tokens cost, for providers that do not say what a turn did.

use lockgate_contract::ports::Usage;

/// How many tokens a price is for.
const UNIT: u128 = 1_000_000;

/// Prices of tokens, each in millionths of a US dollar for a million tokens: 3 dollars for a million are `3_000_000`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prices {
    /// For tokens read.
    pub input: u64,
    /// For tokens read that came from the provider's cache; as all others, where it is not given.
    pub cached_input: Option<u64>,
    /// For tokens written, those of reasoning among them.
    pub output: u64,
}

impl Prices {
    /// What a turn costs in millionths of a US dollar, rounded up. Nothing where the provider did not count both ways: half a price would
    /// pass for a whole one.
    pub(crate) fn cost(self, usage: &Usage) -> Option<u64> {
        let (input, output) = (usage.input_tokens?, usage.output_tokens?);
        let cached = usage.cached_input_tokens.unwrap_or_default().min(input);
        let of = |tokens: u64, price: u64| u128::from(tokens) * u128::from(price);
        let parts = [
            of(input - cached, self.input),
            of(cached, self.cached_input.unwrap_or(self.input)),
            of(output, self.output),
        ];
        let cost = parts.into_iter().fold(0, u128::saturating_add).div_ceil(UNIT);
        Some(u64::try_from(cost).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(input: u64, cached: Option<u64>, output: u64) -> Usage {
        Usage {
            input_tokens: Some(input),
            output_tokens: Some(output),
            cached_input_tokens: cached,
            ..Usage::default()
        }
    }

    #[test]
    fn a_turn_costs_what_its_tokens_do() {
        // 3, 0.30 and 15 dollars for a million.
        let prices = Prices { input: 3_000_000, cached_input: Some(300_000), output: 15_000_000 };
        assert_eq!(prices.cost(&usage(1000, None, 100)), Some(3000 + 1500));
        assert_eq!(prices.cost(&usage(1000, Some(900), 100)), Some(300 + 270 + 1500));
        assert_eq!(prices.cost(&usage(0, None, 0)), Some(0));
        let without = Prices { cached_input: None, ..prices };
        assert_eq!(without.cost(&usage(1000, Some(900), 0)), Some(3000));
        // A provider that counts more from the cache than it read.
        assert_eq!(prices.cost(&usage(10, Some(20), 0)), Some(3));
    }

    #[test]
    fn parts_of_a_millionth_are_rounded_up_and_nothing_overflows() {
        let prices = Prices { input: 75_000, cached_input: None, output: 1 };
        assert_eq!(prices.cost(&usage(1, None, 0)), Some(1));
        assert_eq!(prices.cost(&usage(40, None, 0)), Some(3));
        assert_eq!(prices.cost(&usage(40, None, 1)), Some(4));
        let dear = Prices { input: u64::MAX, cached_input: None, output: u64::MAX };
        assert_eq!(dear.cost(&usage(u64::MAX, None, u64::MAX)), Some(u64::MAX));
    }

    #[test]
    fn what_was_not_counted_has_no_cost() {
        let prices = Prices { input: 1, cached_input: None, output: 1 };
        assert_eq!(prices.cost(&Usage { output_tokens: None, ..usage(1, None, 1) }), None);
        assert_eq!(prices.cost(&Usage { input_tokens: None, ..usage(1, None, 1) }), None);
    }
}
