//! Numbers as they are written: exact, of any length.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::iter::repeat_n;

use super::error::Fault;
use super::tape::Tag;

/// A JSON number. Its text is kept byte for byte; equality, order and hash go by the exact value
/// (`1` = `1.0` = `1e0`, `-0` = `0`).
#[derive(Clone, Copy)]
pub struct Number<'a> {
    text: &'a str,
    written_as_integer: bool,
}

impl<'a> Number<'a> {
    /// Reads a text that is one JSON number and nothing else.
    pub fn parse(text: &'a str) -> Option<Self> {
        match scan(text, 0) {
            Ok((tag, end)) if end == text.len() => Some(Self::new(text, tag)),
            _ => None,
        }
    }

    pub(super) fn new(text: &'a str, tag: Tag) -> Self {
        Self { text, written_as_integer: tag == Tag::Integer }
    }

    /// The number as it stands in the text.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// Whether it is written without fraction and exponent (`1`, not `1.0`).
    pub fn is_written_as_integer(&self) -> bool {
        self.written_as_integer
    }

    /// Whether its value is an integer: `1.0` and `1e0` are.
    pub fn is_integer(&self) -> bool {
        self.written_as_integer || self.decompose().is_integer()
    }

    /// The value as the one exact decimal that stands for it in canonical texts.
    ///
    /// Plain digits (`100`, `0.1`, `-2.5`) where at most 40 zeros have to be filled in between the
    /// digits and the decimal point, which covers every 128-bit integer. Otherwise all significant
    /// digits with an exponent, one of them before the point: `1e50`, `-1.5e-60`. No `+`, no
    /// leading or trailing zeros, no negative zero. It is itself a JSON number; two numbers have
    /// the same decimal exactly when they have the same value; it is at most 43 characters longer
    /// than the significant digits.
    pub fn decimal(&self) -> Cow<'a, str> {
        if self.is_decimal_already() { Cow::Borrowed(self.text) } else { Cow::Owned(self.decompose().decimal()) }
    }

    /// The value, if it is an integer that fits.
    pub fn as_i64(&self) -> Option<i64> {
        if self.written_as_integer {
            return self.text.parse().ok();
        }
        self.as_i128().and_then(|value| value.try_into().ok())
    }

    /// The value, if it is an integer that fits.
    pub fn as_u64(&self) -> Option<u64> {
        self.as_u128().and_then(|value| value.try_into().ok())
    }

    /// The value, if it is an integer that fits.
    pub fn as_i128(&self) -> Option<i128> {
        let parts = self.decompose();
        let magnitude = parts.integer_magnitude()?;
        if parts.negative { 0i128.checked_sub_unsigned(magnitude) } else { magnitude.try_into().ok() }
    }

    /// The value, if it is an integer that fits.
    pub fn as_u128(&self) -> Option<u128> {
        let parts = self.decompose();
        let magnitude = parts.integer_magnitude()?;
        (!parts.negative || magnitude == 0).then_some(magnitude)
    }

    /// The nearest binary64, which is finite for every number of a document. Rounds: use
    /// [`Number::as_lossless_f64`] where a rounded number would be a wrong one.
    pub fn as_f64(&self) -> Option<f64> {
        self.text.parse().ok().filter(|float: &f64| float.is_finite())
    }

    /// The nearest binary64, unless an integer would change by it.
    ///
    /// Not for 2⁵³+1 in any spelling. For an integer that the float holds exactly, and for one that
    /// is the float's own shortest decimal (`1e23`), so that what was written from a float can be
    /// read back. Fractions are rounded to the nearest, as everywhere.
    pub fn as_lossless_f64(&self) -> Option<f64> {
        let float = self.as_f64()?;
        // Binary64 tells any two decimals of 15 digits apart.
        self.keeps_integer(15, || [format!("{float:e}"), format!("{float:.0}")]).then_some(float)
    }

    /// The nearest binary32, by the rule of [`Number::as_lossless_f64`].
    pub fn as_lossless_f32(&self) -> Option<f32> {
        let float: f32 = self.text.parse().ok().filter(|float: &f32| float.is_finite())?;
        // Binary32 tells any two decimals of 6 digits apart.
        self.keeps_integer(6, || [format!("{float:e}"), format!("{float:.0}")]).then_some(float)
    }

    /// As a `serde_json` number: an integer that fits into 64 bits exactly, anything else as the
    /// **nearest `f64`**.
    pub fn to_json_number(&self) -> Option<serde_json::Number> {
        if self.written_as_integer {
            if let Some(value) = self.as_u64() {
                return Some(value.into());
            }
            if let Some(value) = self.as_i64() {
                return Some(value.into());
            }
        }
        serde_json::Number::from_f64(self.as_f64()?)
    }

    /// Most numbers are: short, without exponent, and not ending in a zero after the point.
    #[inline]
    fn is_decimal_already(&self) -> bool {
        if self.text.len() > FILL_ZEROS {
            return false;
        }
        if self.written_as_integer {
            return self.text != "-0";
        }
        !self.text.ends_with('0') && !self.text.bytes().any(|byte| matches!(byte, b'e' | b'E'))
    }

    fn keeps_integer(&self, safe_digits: usize, spellings: impl Fn() -> [String; 2]) -> bool {
        let parts = self.decompose();
        !parts.is_integer()
            || parts.length() <= safe_digits
            || spellings().iter().any(|spelling| Number::parse(spelling).is_some_and(|float| float == *self))
    }

    fn decompose(&self) -> Parts<'a> {
        Parts::of(self.text)
    }
}

/// Shows the text.
impl fmt::Debug for Number<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.text)
    }
}

/// Shows the text.
impl fmt::Display for Number<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.text)
    }
}

impl PartialEq for Number<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Number<'_> {}

impl PartialOrd for Number<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Number<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let (left, right) = (self.decompose(), other.decompose());
        match (left.sign(), right.sign()) {
            (-1, -1) => right.compare_magnitude(&left),
            (1, 1) => left.compare_magnitude(&right),
            (left, right) => left.cmp(&right),
        }
    }
}

impl Hash for Number<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.decimal().hash(state);
    }
}

/// How many zeros a plain decimal may be filled up with.
const FILL_ZEROS: usize = 40;

/// A number as ±0.DIGITS × 10^point, the digits without zeros at either end; zero has none.
struct Parts<'a> {
    negative: bool,
    /// The first digits.
    head: &'a str,
    /// The digits after them; two slices, because a decimal point may stand between them.
    tail: &'a str,
    point: i64,
}

impl<'a> Parts<'a> {
    fn of(text: &'a str) -> Self {
        let (negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        // INVARIANT: `scan` has refused exponents that need more than 32 bits.
        let exponent: i64 = exponent.parse().unwrap_or_default();
        let head = whole.trim_start_matches('0');
        let tail = fraction.trim_end_matches('0');
        if head.is_empty() {
            let digits = tail.trim_start_matches('0');
            if digits.is_empty() {
                return Self { negative: false, head: "", tail: "", point: 0 };
            }
            return Self { negative, head: digits, tail: "", point: exponent - length(tail) + length(digits) };
        }
        Self {
            negative,
            head: if tail.is_empty() { head.trim_end_matches('0') } else { head },
            tail,
            point: exponent + length(head),
        }
    }

    fn length(&self) -> usize {
        self.head.len() + self.tail.len()
    }

    fn digits(&self) -> impl Iterator<Item = char> {
        self.head.chars().chain(self.tail.chars())
    }

    fn sign(&self) -> i8 {
        match (self.head.is_empty(), self.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        }
    }

    fn is_integer(&self) -> bool {
        self.point >= length(self.head) + length(self.tail)
    }

    /// Digits are compared from the front; where one ends, the other has more.
    fn compare_magnitude(&self, other: &Self) -> Ordering {
        self.point.cmp(&other.point).then_with(|| self.digits().cmp(other.digits()))
    }

    fn integer_magnitude(&self) -> Option<u128> {
        const LONGEST: usize = u128::MAX.ilog10() as usize + 1;
        if !self.is_integer() {
            return None;
        }
        let places = usize::try_from(self.point).ok().filter(|places| *places <= LONGEST)?;
        self.digits()
            .chain(repeat_n('0', places - self.length()))
            .try_fold(0u128, |value, digit| value.checked_mul(10)?.checked_add(digit.to_digit(10)?.into()))
    }

    fn decimal(&self) -> String {
        if self.head.is_empty() {
            return "0".to_owned();
        }
        let digits = self.length();
        let mut out = String::with_capacity(digits + FILL_ZEROS + 3);
        if self.negative {
            out.push('-');
        }
        let whole = usize::try_from(self.point).unwrap_or(0);
        let leading = usize::try_from(-self.point).unwrap_or(0);
        if whole >= digits && whole - digits <= FILL_ZEROS {
            out.extend(self.digits().chain(repeat_n('0', whole - digits)));
        } else if whole > 0 && whole < digits {
            out.extend(self.digits().take(whole));
            out.push('.');
            out.extend(self.digits().skip(whole));
        } else if whole == 0 && leading <= FILL_ZEROS {
            out.push_str("0.");
            out.extend(repeat_n('0', leading).chain(self.digits()));
        } else {
            out.extend(self.digits().take(1));
            if digits > 1 {
                out.push('.');
                out.extend(self.digits().skip(1));
            }
            out.push('e');
            out.push_str(&(self.point - 1).to_string());
        }
        out
    }
}

/// The length of a part of a number; no text is long enough to need more than 32 bits.
fn length(digits: &str) -> i64 {
    i64::try_from(digits.len()).unwrap_or(i64::MAX)
}

/// Reads the number that begins at `start`: its spelling and the place after it.
///
/// # Errors
///
/// What is wrong, and where.
#[inline]
pub(super) fn scan(text: &str, start: usize) -> Result<(Tag, usize), (Fault, usize)> {
    let bytes = text.as_bytes();
    let digit_at = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let digits_end = |mut at: usize| {
        while digit_at(at) {
            at += 1;
        }
        at
    };
    let whole = start + usize::from(bytes.get(start) == Some(&b'-'));
    let mut at = match bytes.get(whole) {
        Some(b'0') => whole + 1,
        Some(b'1'..=b'9') => digits_end(whole),
        _ => return Err((Fault::NotJson, whole)),
    };
    let whole_digits = at - whole;
    let mut tag = Tag::Integer;
    if bytes.get(at) == Some(&b'.') {
        tag = Tag::Decimal;
        let end = digits_end(at + 1);
        if end == at + 1 {
            return Err((Fault::NotJson, end));
        }
        at = end;
    }
    let mut exponent = "0";
    if let Some(b'e' | b'E') = bytes.get(at) {
        tag = Tag::Decimal;
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let digits = at + 1 + sign;
        let end = digits_end(digits);
        if end == digits {
            return Err((Fault::NotJson, end));
        }
        exponent = text.get(at + 1..end).unwrap_or_default();
        at = end;
    }
    // Neither many digits nor an exponent: far below the largest binary64, about 1.8e308.
    let surely_finite = exponent == "0" && whole_digits <= 300;
    if surely_finite || is_finite(text.get(start..at).unwrap_or_default(), whole_digits, exponent) {
        Ok((tag, at))
    } else {
        Err((Fault::NonFiniteNumber, start))
    }
}

#[cold]
fn is_finite(number: &str, whole_digits: usize, exponent: &str) -> bool {
    let Ok(exponent) = exponent.parse::<i32>() else {
        return false;
    };
    let places = i64::try_from(whole_digits).unwrap_or(i64::MAX).saturating_add(exponent.into());
    places <= 300 || number.parse().is_ok_and(f64::is_finite)
}
