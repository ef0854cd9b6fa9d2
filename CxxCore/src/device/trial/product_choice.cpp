// Reads, determines and caches the choice of kernels for matrix units, then that of kernels without them.
#include "device/trial/product_choice.h"

#include <string_view>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "base/hash128.h"
#include "device/trial/scalar_choice.h"
#include "device/trial/verdict.h"

namespace pagoda::device {
namespace {

using Found = Verdict::Found;
constexpr std::string_view kTrialVersion = "1";  // of the requirements of a trial
constexpr double kMostTime = 0.95;               // relative to the usual kernels; a smaller gain may be noise

std::string verdict_path(const Device& device, const TensorProducts& products, std::span<const ProductShape> shapes,
                         const std::string& folder) {
  if (folder.empty()) return "";
  Hash128 hash;
  hash.add(kTrialVersion);
  hash.add(device.info().name);
  hash.add(device.info().description);
  hash.add(products.tensor_version());
  for (const ProductShape& s : shapes)
    hash.add(concat(s.rows, " ", s.cols, " ", weight_format_name(s.format), " ", int{s.silu_mul}, " ", int{s.is_head},
                    " ", s.count));
  return folder + "/" + hash.value().text() + ".products";
}

Result<Verdict> make_verdict(Device& device, TensorProducts& products, std::span<const ProductShape> shapes,
                             const ProductOptions& options) {
  auto trusted = options.make_trusted();
  if (!trusted.is_ok()) return trusted.status;
  const Result<double> time = try_tensor_products(device, products, **trusted, shapes, options.trial);
  if (time.status.code == StatusCode::out_of_memory) return time.status;  // another start may have enough memory
  return time.is_ok() ? Verdict::timed(*time, kMostTime, "the usual kernels") : Verdict::refused(time.status);
}

// Whether the kernels for matrix units are used.
bool choose_tensors(Device& device, TensorProducts& products, std::span<const ProductShape> tried,
                    const ProductOptions& options) {
  const std::string path = verdict_path(device, products, tried, options.verdict_folder);
  Verdict verdict = find_verdict(path, options.may_try, [&] { return make_verdict(device, products, tried, options); });
  if (verdict.found == Found::none) {
    products.describe_products(", tensor units not tried yet");
    return false;
  }
  if (verdict.found == Found::used && options.may_try)
    if (const Status runs = run_tensor_products(device, products, tried); !runs.is_ok()) {
      verdict = Verdict::refused({runs.code, "they no longer run: " + runs.message});
      (void)keep_verdict(path, verdict);
    }
  const bool is_tensor = verdict.found == Found::used;
  products.use_tensor_products(is_tensor);
  products.describe_products((is_tensor ? ", products on tensor units: " : ", tensor units not used: ") +
                             verdict.reason);
  return is_tensor;
}

}  // namespace

void choose_products(Device& device, std::span<const ProductShape> shapes, const ProductOptions& options) {
  std::vector<ProductShape> tried, stored;
  for (const ProductShape& shape : shapes)
    if (is_stored(shape.format)) stored.push_back(shape);
    else if (shape.format != WeightFormat::f32) tried.push_back(shape);
  // The names of their files have the description as it is now.
  const ScalarChoice all(device, shapes, options), of_files(device, stored, options);
  auto* products = dynamic_cast<TensorProducts*>(&device);
  const bool is_tensor = !tried.empty() && products != nullptr && products->has_tensor_products() &&
                         choose_tensors(device, *products, tried, options) && !products->has_same_bits();
  (is_tensor ? of_files : all).choose();
}

}  // namespace pagoda::device
