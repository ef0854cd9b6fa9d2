// Creates weights of a model's shapes, multiplies the same rows by them in several ways, compares and times.
#include "device/tensor_trial.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

#include "base/assign_or_return.h"
#include "base/concat.h"
#include "device/trial_side.h"

namespace pagoda::device {
namespace {

constexpr int64_t kCounts[] = {300, 1, 2, 8, 64};  // of rows; the largest first
constexpr int64_t kDistinct = TrialSide::kDistinct;
constexpr int64_t kPromptRows = 512, kMostColumns = 256;
constexpr double kPromptSteps = 2, kDecodeSteps = 256;  // of the request that is timed
constexpr int kPromptProducts = 2, kDecodeProducts = 8;
// Relative to a row's norm. Both sets of kernels get the same 16-bit operands: float sums differ by some 1e-6, sums of
// lower precision by more than 1e-3. `trusted` rounds activations in its own way, as in the self-test.
constexpr double kSumTolerance = 1e-4, kTrustedTolerance = 2e-2;

double system_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string text_of(const ProductShape& shape) {
  return concat(weight_format_name(shape.format), " weights [", shape.rows, ", ", shape.cols, "]",
                shape.silu_mul ? " with SiLU" : "");
}

Status wrong(const ProductShape& shape, const std::string& what) {
  return make_error(StatusCode::device_error, concat(text_of(shape), ": ", what));
}

// Whether `got` equals `wanted` within `tolerance` of its norm; false for NaN.
bool agree(const float* got, const float* wanted, size_t count, double tolerance) {
  double difference = 0, norm = 0;
  for (size_t i = 0; i < count; ++i) {
    const double d = static_cast<double>(got[i]) - wanted[i];
    difference += d * d;
    norm += static_cast<double>(wanted[i]) * wanted[i];
  }
  return difference <= tolerance * tolerance * norm;
}

// `first`: the distinct rows, by the kernels for matrix units.
Status check_bits(TrialSide& side, TensorProducts& products, const ProductShape& shape, std::vector<float>& first) {
  products.use_tensor_products(true);
  const auto width = static_cast<size_t>(side.width());
  std::vector<float> out;
  for (const int64_t rows : kCounts) {
    PAGODA_RETURN_IF_ERROR(side.multiply(rows, out));
    if (first.empty()) first.assign(out.begin(), out.begin() + kDistinct * side.width());
    for (int64_t i = 0; i < rows; ++i)
      if (std::memcmp(&out[static_cast<size_t>(i) * width], &first[static_cast<size_t>(i % kDistinct) * width],
                      width * sizeof(float)) != 0)
        return wrong(shape,
                     concat("row ", i, " of ", rows, " has other bits than row ", i % kDistinct, " of ", kCounts[0]));
  }
  return ok_status();
}

Status check_numbers(TrialSide& side, TensorProducts& products, Device& trusted, const ProductShape& shape,
                     const TrialNumbers& numbers, std::span<const int64_t> sampled, const std::vector<float>& first) {
  products.use_tensor_products(false);
  const auto width = static_cast<size_t>(side.width());
  std::vector<float> usual, exact, ours(sampled.size());
  PAGODA_RETURN_IF_ERROR(side.multiply(kDistinct, usual));
  PAGODA_ASSIGN_OR_RETURN(TrialSide other,
                          TrialSide::make(trusted, shape, numbers, sampled, kDistinct, /*is_trusted=*/true));
  PAGODA_RETURN_IF_ERROR(other.multiply(kDistinct, exact));
  for (size_t i = 0; i < static_cast<size_t>(kDistinct); ++i) {
    if (!agree(&first[i * width], &usual[i * width], width, kSumTolerance))
      return wrong(shape, concat("row ", i, " is not what the usual kernels give"));
    for (size_t c = 0; c < sampled.size(); ++c) ours[c] = first[i * width + static_cast<size_t>(sampled[c])];
    if (!agree(ours.data(), &exact[i * sampled.size()], sampled.size(), kTrustedTolerance))
      return wrong(shape, concat("row ", i, " is not what ", trusted.info().name, " gives"));
  }
  return ok_status();
}

// Total seconds of `times` products of `rows` rows: the best of several rounds, after a warm-up.
Result<double> best_seconds(TrialSide& side, int64_t rows, int times, const TrialOptions& options) {
  double best = 0;
  for (int round = -1; round < options.rounds; ++round) {
    const double begin = options.seconds();
    PAGODA_RETURN_IF_ERROR(side.multiply(rows, times));
    const double took = options.seconds() - begin;
    best = round <= 0 ? took : std::min(best, took);
  }
  return best;
}

// Seconds of all products of the request with weights of this shape, or of those of the prompt alone.
Result<double> request_seconds(TrialSide& side, const ProductShape& shape, bool has_answer,
                               const TrialOptions& options) {
  double prompt = 0;
  if (!shape.is_head) {
    PAGODA_ASSIGN_OR_RETURN(prompt, best_seconds(side, kPromptRows, kPromptProducts, options));
  }
  double decode = 0;
  if (has_answer) {
    PAGODA_ASSIGN_OR_RETURN(decode, best_seconds(side, 1, kDecodeProducts, options));
  }
  return static_cast<double>(shape.count) *
         (kPromptSteps * prompt / kPromptProducts + kDecodeSteps * decode / kDecodeProducts);
}

}  // namespace

Result<double> try_tensor_products(Device& tested, TensorProducts& products, Device& trusted,
                                   std::span<const ProductShape> shapes, const TrialOptions& given) {
  TrialOptions options = given;
  if (!options.seconds) options.seconds = system_seconds;
  struct Reset {
    TensorProducts& products;
    ~Reset() { products.use_tensor_products(false); }
  } const reset{products};
  const bool has_answer = !products.has_same_bits();  // otherwise both compute it by the same kernels
  double usual = 0, tensor = 0;
  for (const ProductShape& shape : shapes) {
    const TrialNumbers numbers(shape.cols);
    std::vector<int64_t> columns(static_cast<size_t>(shape.silu_mul ? shape.rows / 2 : shape.rows)), sampled;
    for (size_t i = 0; i < columns.size(); ++i) columns[i] = static_cast<int64_t>(i);
    const int64_t last = static_cast<int64_t>(columns.size()) - 1, picked = std::min(last + 1, kMostColumns);
    for (int64_t i = 0; i < picked; ++i) sampled.push_back(picked > 1 ? i * last / (picked - 1) : 0);
    PAGODA_ASSIGN_OR_RETURN(TrialSide side,
                            TrialSide::make(tested, shape, numbers, columns, kPromptRows, /*is_trusted=*/false));
    std::vector<float> first;
    PAGODA_RETURN_IF_ERROR(check_bits(side, products, shape, first));
    PAGODA_RETURN_IF_ERROR(check_numbers(side, products, trusted, shape, numbers, sampled, first));
    PAGODA_ASSIGN_OR_RETURN(const double usual_seconds, request_seconds(side, shape, has_answer, options));
    products.use_tensor_products(true);
    PAGODA_ASSIGN_OR_RETURN(const double tensor_seconds, request_seconds(side, shape, has_answer, options));
    usual += usual_seconds;
    tensor += tensor_seconds;
  }
  return usual > 0 ? tensor / usual : 1.0;
}

Status run_tensor_products(Device& device, TensorProducts& products, std::span<const ProductShape> shapes) {
  products.use_tensor_products(true);
  const int64_t column = 0;
  for (const ProductShape& shape : shapes) {
    const ProductShape small{.rows = 1, .cols = 64, .format = shape.format};
    PAGODA_ASSIGN_OR_RETURN(TrialSide side, TrialSide::make(device, small, TrialNumbers(small.cols), {&column, 1}, 1,
                                                            /*is_trusted=*/false));
    PAGODA_RETURN_IF_ERROR(side.multiply(1));
  }
  return ok_status();
}

}  // namespace pagoda::device
