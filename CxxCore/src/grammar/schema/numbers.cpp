// A range of numbers is split by sign and by number of digits; numbers of equal length compare like texts.
#include "grammar/schema/numbers.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

namespace pagoda::grammar {
namespace {

constexpr size_t kDefaultFraction = 6;

void trim(Decimal& d) {
  d.whole.erase(0, d.whole.find_first_not_of('0'));
  while (!d.fraction.empty() && d.fraction.back() == '0') d.fraction.pop_back();
  if (d.whole.empty() && d.fraction.empty()) d.negative = false;
}

int compare_magnitudes(const Decimal& a, const Decimal& b) {
  if (a.whole.size() != b.whole.size()) return a.whole.size() < b.whole.size() ? -1 : 1;
  const int whole = a.whole.compare(b.whole);
  return whole != 0 ? whole : a.fraction.compare(b.fraction);  // without trailing zeros a prefix is the smaller one
}

// One sign, one number of digits: from `low` to `high` as digits of equal length, fractions padded with zeros.
struct DigitRange {
  std::string low, high;
  size_t num_whole;  // digits before the point
  bool low_exclusive, high_exclusive;
};

// Follows both ends together: while the digits so far equal those of an end, that end limits the next digit.
class DigitWalker {
 public:
  DigitWalker(GrammarBuilder& builder, const DigitRange& range, int32_t to)
      : builder_(builder), range_(range), to_(to), states_(range.low.size() + 1, {-1, -1, -1, -1}) {}

  void walk(int32_t from) { walk(from, 0, /*on_low=*/true, /*on_high=*/true); }

 private:
  static bool all_zeros(std::string_view digits) { return digits.find_first_not_of('0') == std::string_view::npos; }

  bool may_end(size_t at, bool on_low, bool on_high) const {
    if (at < range_.num_whole) return false;
    const bool low_rest = all_zeros(std::string_view(range_.low).substr(at));
    const bool high_rest = all_zeros(std::string_view(range_.high).substr(at));
    if (on_low && (!low_rest || range_.low_exclusive)) return false;
    return !(on_high && high_rest && range_.high_exclusive);
  }

  void walk(int32_t from, size_t at, bool on_low, bool on_high) {
    if (may_end(at, on_low, on_high)) builder_.add_jump(from, to_);
    if (at == range_.low.size() || !builder_.is_ok()) return;
    if (at == range_.num_whole) from = builder_.add_byte(from, '.', '.');
    const char low = on_low ? range_.low[at] : '0', high = on_high ? range_.high[at] : '9';
    if (low > high) return;
    if (low == high) return step(from, at, low, low, on_low, on_high);
    char begin = low, end = high;
    if (on_low) step(from, at, begin, begin, true, false), ++begin;
    if (on_high) step(from, at, end, end, false, true), --end;
    if (begin <= end) step(from, at, begin, end, false, false);
  }

  void step(int32_t from, size_t at, char first, char last, bool on_low, bool on_high) {
    int32_t& state = states_[at + 1][static_cast<size_t>(on_low) * 2 + static_cast<size_t>(on_high)];
    const bool is_new = state < 0;
    if (is_new) state = builder_.add_state();
    const int32_t target = state;
    builder_.add_bytes(from, static_cast<uint8_t>(first), static_cast<uint8_t>(last), target);
    if (is_new) walk(target, at + 1, on_low, on_high);
  }

  GrammarBuilder& builder_;
  const DigitRange& range_;
  int32_t to_;
  std::vector<std::array<int32_t, 4>> states_;  // by digits read, and whether they equal each end
};

std::string padded(const Decimal& d, size_t num_whole, size_t num_fraction) {
  std::string digits(num_whole - d.whole.size(), '0');
  digits += d.whole;
  digits += d.fraction.substr(0, num_fraction);
  digits.resize(num_whole + num_fraction, '0');
  return digits;
}

// Numbers without a sign from `low` to `high` (absent: no limit except the number of digits).
void add_magnitudes(GrammarBuilder& builder, int32_t from, bool is_integer, const NumberBound& low,
                    const std::optional<NumberBound>& high, int32_t to) {
  const size_t longest =
      high ? std::max<size_t>(high->value.whole.size(), 1) : std::max(kDefaultDigits, low.value.whole.size() + 1);
  for (size_t length = std::max<size_t>(low.value.whole.size(), 1); length <= longest; ++length) {
    size_t fraction = 0;
    if (!is_integer) {
      const size_t digits_left = length < kDefaultDigits ? kDefaultDigits - length : 0;
      fraction = std::max({std::min(kDefaultFraction, digits_left), low.value.fraction.size(),
                           high ? high->value.fraction.size() : size_t{0}});
    }
    const bool has_low = low.value.whole.size() == length || (low.value.whole.empty() && length == 1);
    const bool has_high = high && std::max<size_t>(high->value.whole.size(), 1) == length;
    DigitRange range;
    range.num_whole = length;
    range.low_exclusive = has_low && low.is_exclusive;
    range.high_exclusive = has_high && high->is_exclusive;
    range.low = has_low ? padded(low.value, length, fraction) : "1" + std::string(length + fraction - 1, '0');
    range.high = has_high ? padded(high->value, length, fraction) : std::string(length + fraction, '9');
    // The digits written of a longer bound are below it: excluded for the lower bound, included for the upper one.
    if (has_low && low.value.fraction.size() > fraction) range.low_exclusive = true;
    if (has_high && high->value.fraction.size() > fraction) range.high_exclusive = false;
    DigitWalker(builder, range, to).walk(from);
  }
}

const Decimal kZero;

}  // namespace

Decimal Decimal::from_integer(int64_t value) {
  Decimal d;
  d.whole = std::to_string(value);
  d.negative = d.whole[0] == '-';
  if (d.negative) d.whole.erase(0, 1);
  trim(d);
  return d;
}

std::optional<Decimal> Decimal::from_double(double value) {
  if (!(std::abs(value) < 1e30)) return std::nullopt;
  std::array<char, 512> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed).ptr;
  std::string_view text(buffer.data(), static_cast<size_t>(end - buffer.data()));
  Decimal d;
  d.negative = text.starts_with('-');
  if (d.negative) text.remove_prefix(1);
  const size_t point = text.find('.');
  d.whole = text.substr(0, point);
  if (point != std::string_view::npos) d.fraction = text.substr(point + 1, kMaxDigits);
  trim(d);
  return d;
}

int compare(const Decimal& a, const Decimal& b) {
  if (a.negative != b.negative) return a.negative ? -1 : 1;
  const int order = compare_magnitudes(a, b);
  return a.negative ? -order : order;
}

void add_numbers(GrammarBuilder& builder, int32_t from, bool is_integer, const std::optional<NumberBound>& low,
                 const std::optional<NumberBound>& high, int32_t to) {
  const NumberBound zero{kZero, false};
  const auto sign = [](const std::optional<NumberBound>& bound, int otherwise) {
    return bound ? compare(bound->value, kZero) : otherwise;
  };
  if (low && high) {
    const int order = compare(low->value, high->value);
    if (order > 0 || (order == 0 && (low->is_exclusive || high->is_exclusive))) return;  // there is no such number
  }
  if (sign(high, 1) > 0 || (sign(high, 1) == 0 && !high->is_exclusive))
    add_magnitudes(builder, from, is_integer, sign(low, -1) >= 0 ? *low : zero, high, to);
  if (sign(low, -1) >= 0) return;
  std::optional<NumberBound> magnitude_high = low;
  const NumberBound magnitude_low = sign(high, 1) <= 0 && high ? *high : NumberBound{kZero, /*is_exclusive=*/true};
  add_magnitudes(builder, builder.add_byte(from, '-', '-'), is_integer, magnitude_low, magnitude_high, to);
}

void add_any_number(GrammarBuilder& builder, int32_t from, int32_t to) {
  const auto digits = [&](int32_t state, size_t most, int32_t after) {  // one to `most` digits
    for (size_t i = 0; i < most; ++i) {
      state = builder.add_byte(state, '0', '9');
      builder.add_jump(state, after);
    }
  };
  const int32_t unsigned_start = builder.add_state(), whole_end = builder.add_state(), end = builder.add_state();
  builder.add_jump(from, unsigned_start);
  builder.add_bytes(from, '-', '-', unsigned_start);
  builder.add_bytes(unsigned_start, '0', '0', whole_end);
  const int32_t first = builder.add_byte(unsigned_start, '1', '9');
  builder.add_jump(first, whole_end);
  digits(first, kDefaultDigits - 1, whole_end);
  builder.add_jump(whole_end, end);
  digits(builder.add_byte(whole_end, '.', '.'), kDefaultDigits, end);
  builder.add_jump(end, to);
  const int32_t exponent = builder.add_state(), exponent_digits = builder.add_state();
  builder.add_bytes(end, 'e', 'e', exponent);
  builder.add_bytes(end, 'E', 'E', exponent);
  builder.add_jump(exponent, exponent_digits);
  builder.add_bytes(exponent, '+', '+', exponent_digits);
  builder.add_bytes(exponent, '-', '-', exponent_digits);
  digits(exponent_digits, 2, to);
}

}  // namespace pagoda::grammar
