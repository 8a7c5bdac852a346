//! What a turn used, in the words of `OpenAI`'s two protocols and of those who speak them with additions of their own.

use lockgate_contract::document::Node;
use lockgate_contract::ports::Usage;

/// Ten thousand of xAI's ticks are a millionth of a dollar.
const TICKS_PER_MICROUSD: u64 = 10_000;

/// Reads the member `usage`.
pub(crate) fn usage_of(usage: Node<'_>) -> Usage {
    let count = |of: Node<'_>, keys: [&str; 2]| keys.into_iter().find_map(|key| of.get(key)?.raw().parse::<u64>().ok());
    let detail = |keys: [&str; 2], key| keys.into_iter().find_map(|of| count(usage.get(of)?, [key, key]));
    let input = count(usage, ["prompt_tokens", "input_tokens"]);
    let output = count(usage, ["completion_tokens", "output_tokens"]);
    let reasoning = detail(["completion_tokens_details", "output_tokens_details"], "reasoning_tokens")
        .or_else(|| count(usage, ["reasoning_tokens", "reasoning_tokens"]));
    let total = count(usage, ["total_tokens", "total_tokens"]);
    // Some count what only the model reads beside what it wrote, not in it: the total says so.
    let beside = match (input, output, reasoning, total) {
        (Some(input), Some(output), Some(reasoning), Some(total)) => {
            input.checked_add(output).and_then(|sum| sum.checked_add(reasoning)) == Some(total)
        }
        _ => false,
    };
    Usage {
        input_tokens: input,
        output_tokens: if beside {
            output.zip(reasoning).map(|(output, reasoning)| output + reasoning)
        } else {
            output
        },
        cached_input_tokens: detail(["prompt_tokens_details", "input_tokens_details"], "cached_tokens")
            .or_else(|| count(usage, ["prompt_cache_hit_tokens", "cached_tokens"])),
        reasoning_tokens: reasoning,
        cost_microusd: usage.get("cost").and_then(|cost| microusd(cost.raw())).or_else(|| {
            let ticks = count(usage, ["cost_in_usd_ticks", "cost_in_usd_ticks"])?;
            Some(ticks.div_ceil(TICKS_PER_MICROUSD))
        }),
    }
}

/// Dollars as JSON writes them, in millionths. Part of a millionth counts whole: what was spent is never more than what is said.
fn microusd(dollars: &str) -> Option<u64> {
    let (number, exponent) = dollars.split_once(['e', 'E']).unwrap_or((dollars, "0"));
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let digits: String = [whole, part].concat();
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // Where the point stands in the digits of the millionths.
    let point = i64::try_from(whole.len()).ok()? + exponent.parse::<i64>().ok()?.clamp(-1000, 1000) + 6;
    let point = usize::try_from(point.max(0)).ok()?;
    let (kept, rest) = digits.split_at(point.min(digits.len()));
    // Digits that stand behind a point which lies before all of them are part of a millionth.
    let zeros = point.saturating_sub(digits.len());
    let kept = kept.trim_start_matches('0');
    let micro: u64 = match kept.is_empty() {
        true => 0,
        false if kept.len() + zeros > 19 => return None,
        false => format!("{kept}{}", "0".repeat(zeros)).parse().ok()?,
    };
    micro.checked_add(u64::from(rest.bytes().any(|byte| byte != b'0')))
}

#[cfg(test)]
mod tests;
