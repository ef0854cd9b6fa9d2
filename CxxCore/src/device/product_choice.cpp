// Reads, determines and caches the choice of kernels for matrix units.
#include "device/product_choice.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

#include "base/concat.h"
#include "base/hash128.h"

namespace pagoda::device {
namespace {

constexpr std::string_view kTrialVersion = "1";  // of the requirements of a trial
constexpr double kMostTime = 0.95;               // relative to the usual kernels; a smaller gain may be noise
constexpr size_t kMostReason = 200;              // characters

enum class Found { none, tensor, usual, unfinished };
constexpr std::string_view kWords[] = {"", "tensor", "usual", "trying"};

struct Verdict {
  Found found = Found::none;
  std::string reason;
};

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

Verdict read(const std::string& path) {
  std::ifstream file(path);
  std::string word, reason;
  if (path.empty() || !std::getline(file, word)) return {};
  std::getline(file, reason);
  for (const Found found : {Found::tensor, Found::usual})
    if (word == kWords[static_cast<size_t>(found)]) return {found, reason};
  return {Found::unfinished, {}};  // or not one of our files
}

// Returns whether the file now contains the verdict.
bool keep(const std::string& path, const Verdict& verdict) {
  if (path.empty()) return false;
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  std::ofstream file(path, std::ios::trunc);
  file << kWords[static_cast<size_t>(verdict.found)] << "\n" << verdict.reason << "\n";
  file.close();
  return file && read(path).found == verdict.found;
}

std::string one_line(std::string text) {
  for (char& c : text)
    if (c == '\n' || c == '\r') c = ' ';
  return text.substr(0, kMostReason);
}

Result<Verdict> make_verdict(Device& device, TensorProducts& products, std::span<const ProductShape> shapes,
                             const ProductOptions& options) {
  auto trusted = options.make_trusted();
  if (!trusted.is_ok()) return trusted.status;
  const Result<double> time = try_tensor_products(device, products, **trusted, shapes, options.trial);
  if (time.status.code == StatusCode::out_of_memory) return time.status;  // another start may have enough memory
  if (!time.is_ok()) return Verdict{Found::usual, one_line(time.status.message)};
  char text[64];
  std::snprintf(text, sizeof text, "%.2f of the time of the usual kernels", *time);
  return Verdict{*time <= kMostTime ? Found::tensor : Found::usual, text};
}

// A result that cannot be cached is not used: the next start might find a different one.
Verdict try_now(Device& device, TensorProducts& products, std::span<const ProductShape> shapes,
                const ProductOptions& options, const std::string& path) {
  if (!keep(path, {Found::unfinished, {}})) return {Found::usual, "there is no folder to cache the result in"};
  const Result<Verdict> made = make_verdict(device, products, shapes, options);
  if (!made.is_ok()) {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
    return {Found::usual, one_line(made.status.message)};
  }
  return keep(path, *made) ? *made : Verdict{Found::usual, "the result could not be cached"};
}

}  // namespace

void choose_products(Device& device, std::span<const ProductShape> shapes, const ProductOptions& options) {
  auto* products = dynamic_cast<TensorProducts*>(&device);
  std::vector<ProductShape> tried;
  for (const ProductShape& shape : shapes)
    if (shape.format != WeightFormat::f32 && !is_stored(shape.format)) tried.push_back(shape);
  if (products == nullptr || !products->has_tensor_products() || tried.empty()) return;
  const std::string path = verdict_path(device, *products, tried, options.verdict_folder);
  Verdict verdict = read(path);
  if (verdict.found == Found::none && !options.may_try)
    return products->describe_products(", tensor units not tried yet");
  if (verdict.found == Found::none) verdict = try_now(device, *products, tried, options, path);
  if (verdict.found == Found::tensor && options.may_try)
    if (const Status runs = run_tensor_products(device, *products, tried); !runs.is_ok()) {
      verdict = {Found::usual, one_line("they no longer run: " + runs.message)};
      (void)keep(path, verdict);
    }
  if (verdict.found == Found::unfinished) verdict.reason = "a trial of them did not end";
  const bool is_tensor = verdict.found == Found::tensor;
  products->use_tensor_products(is_tensor);
  products->describe_products((is_tensor ? ", products on tensor units: " : ", tensor units not used: ") +
                              verdict.reason);
}

}  // namespace pagoda::device
