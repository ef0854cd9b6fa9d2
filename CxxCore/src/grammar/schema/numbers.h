// Numbers within bounds as bytes of a grammar: digit by digit, no exponents.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "grammar/grammar_builder.h"

namespace pagoda::grammar {

// An exact decimal number: sign, digits before the point (no leading zeros; "0" has none) and after it.
struct Decimal {
  bool negative = false;
  std::string whole, fraction;

  static Decimal from_integer(int64_t value);
  static std::optional<Decimal> from_double(double value);  // empty above kMaxDigits digits before the point
};
int compare(const Decimal& a, const Decimal& b);

struct NumberBound {
  Decimal value;
  bool is_exclusive = false;
};

// Digits before the point unless a bound needs more. Every JSON parser represents integers of 15 digits exactly.
inline constexpr size_t kDefaultDigits = 15;
inline constexpr size_t kMaxDigits = 30;

// Numbers from `low` to `high`; without fractions if `is_integer`, otherwise with up to six decimals, or as many as
// the bounds have.
void add_numbers(GrammarBuilder& builder, int32_t from, bool is_integer, const std::optional<NumberBound>& low,
                 const std::optional<NumberBound>& high, int32_t to);

// Any number: up to 15 digits before the point and after it, and an exponent of two.
void add_any_number(GrammarBuilder& builder, int32_t from, int32_t to);

}  // namespace pagoda::grammar
