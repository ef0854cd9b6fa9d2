// Multiplies rows of several kinds of numbers with and without matrix units, compares the bits, and times both.
#include "device/trial/scalar_trial.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "base/assign_or_return.h"
#include "base/concat.h"
#include "device/trial/trial_side.h"

namespace pagoda::device {
namespace {

constexpr int64_t kRows = 4;  // of x, the most that are multiplied without matrix units
constexpr int64_t kWeightRows = 64;
constexpr int64_t kCols = 20 * 64;  // runs of three chunks, an incomplete one, and an empty one
constexpr int64_t kTimedCols = 2048;
constexpr int kTimedProducts = 8;

// Rows of x: random numbers in [-1, 1) times powers of two with exponents from `least` to `most`.
struct Kind {
  const char* name;
  int least, most;
  bool has_infinities;
};
constexpr Kind kKinds[] = {{"usual numbers", 0, 0, false},     {"numbers of all sizes", -20, 20, false},
                           {"tiny numbers", -149, -90, false}, {"denormals", -149, -126, false},
                           {"huge numbers", 110, 127, false},  {"infinities", -10, 10, true}};
// The same for weights, which no format scales to infinity.
constexpr int kWeightExponents[] = {0, 20, 140};

std::vector<float> rows_of(const Kind& kind, uint64_t& state) {
  const auto next = [&state] { return (state = state * 6364136223846793005u + 1442695040888963407u) >> 32; };
  std::vector<float> x(static_cast<size_t>(kRows * kCols));
  for (float& v : x) {
    v = static_cast<float>(static_cast<int32_t>(next())) / 2147483648.0f;
    v = std::ldexp(v, kind.least + static_cast<int>(next() % static_cast<uint64_t>(kind.most - kind.least + 1)));
    if (kind.has_infinities && next() % 500 == 0) v = std::copysign(std::numeric_limits<float>::infinity(), v);
  }
  return x;
}

bool same(float wanted, float got, bool only_finite) {
  if (only_finite && !std::isfinite(wanted)) return true;
  return std::memcmp(&wanted, &got, sizeof wanted) == 0 || (std::isnan(wanted) && std::isnan(got));
}

Result<TrialSide> make_side(Device& device, WeightFormat format, int64_t rows, int64_t cols, int exponents,
                            int64_t max_rows) {
  std::vector<int64_t> columns(static_cast<size_t>(rows));
  std::iota(columns.begin(), columns.end(), 0);
  return TrialSide::make(device, {.rows = rows, .cols = cols, .format = format}, TrialNumbers(cols, exponents), columns,
                         max_rows, /*is_trusted=*/false);
}

Status check_bits(TrialSide& side, ScalarProducts& scalars, const Kind& kind, WeightFormat format, int exponents,
                  std::span<const float> x) {
  std::vector<float> wanted, got;
  PAGODA_RETURN_IF_ERROR(side.set_rows(x));
  scalars.use_scalar_products(false);
  PAGODA_RETURN_IF_ERROR(side.multiply(kRows, wanted));
  scalars.use_scalar_products(true);
  for (int64_t rows = 1; rows <= kRows; ++rows) {
    PAGODA_RETURN_IF_ERROR(side.multiply(rows, got));
    for (size_t i = 0; i < got.size(); ++i)
      if (!same(wanted[i], got[i], is_stored(format)))
        return make_error(StatusCode::device_error,
                          concat(kind.name, " times ", weight_format_name(format), " weights of ", exponents,
                                 " exponents: ", rows, " rows have other bits than with matrix units"));
  }
  return ok_status();
}

}  // namespace

Result<double> try_scalar_products(Device& tested, ScalarProducts& scalars, std::span<const WeightFormat> formats,
                                   const TrialOptions& given) {
  const TrialOptions options = with_clock(given);
  struct Reset {
    ScalarProducts& scalars;
    ~Reset() { scalars.use_scalar_products(false); }
  } const reset{scalars};
  uint64_t state = 1;
  double usual = 0, scalar = 0;
  for (const WeightFormat format : formats) {
    for (const int exponents : kWeightExponents) {
      PAGODA_ASSIGN_OR_RETURN(TrialSide side, make_side(tested, format, kWeightRows, kCols, exponents, kRows));
      for (const Kind& kind : kKinds)
        PAGODA_RETURN_IF_ERROR(check_bits(side, scalars, kind, format, exponents, rows_of(kind, state)));
    }
    PAGODA_ASSIGN_OR_RETURN(TrialSide side, make_side(tested, format, options.timed_rows, kTimedCols, 0, 1));
    for (const bool is_scalar : {false, true}) {
      scalars.use_scalar_products(is_scalar);
      PAGODA_ASSIGN_OR_RETURN(const double seconds, side.best_seconds(1, kTimedProducts, options));
      (is_scalar ? scalar : usual) += seconds;
    }
  }
  return usual > 0 ? scalar / usual : 1.0;
}

}  // namespace pagoda::device
