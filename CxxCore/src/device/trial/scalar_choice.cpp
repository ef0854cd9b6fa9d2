// Reads, determines and caches whether kernels without matrix units multiply a few rows.
#include "device/trial/scalar_choice.h"

#include <algorithm>

#include "base/concat.h"
#include "base/hash128.h"
#include "device/support.h"
#include "device/trial/scalar_trial.h"
#include "device/trial/verdict.h"

namespace pagoda::device {
namespace {

constexpr std::string_view kScalarTrialVersion = "scalar 2";  // of the requirements of a trial
constexpr double kMostScalarTime = 1.0;                       // the bits are the same, so a wrong guess costs only time

Result<Verdict> make_verdict(Device& device, ScalarProducts& scalars, std::span<const WeightFormat> formats,
                             const TrialOptions& options) {
  const Result<double> time = try_scalar_products(device, scalars, formats, options);
  if (time.status.code == StatusCode::out_of_memory) return time.status;  // another start may have enough memory
  return time.is_ok() ? Verdict::timed(*time, kMostScalarTime, "matrix units") : Verdict::refused(time.status);
}

// Formats of one name differ in their groups.
std::string name_of(WeightFormat format) {
  const std::string name(weight_format_name(format));
  if (!is_stored(format)) return name;
  const QuantFormat& f = quant_format(format);
  return concat(name, " ", f.group, " ", f.super, " ", static_cast<int>(f.scale));
}

}  // namespace

ScalarChoice::ScalarChoice(Device& device, std::span<const ProductShape> shapes, const ProductOptions& options)
    : device_(device), scalars_(dynamic_cast<ScalarProducts*>(&device)), options_(options) {
  if (scalars_ == nullptr || !scalars_->needs_scalar_trial()) return;
  for (const ProductShape& shape : shapes)
    if (shape.format != WeightFormat::f32 && std::ranges::find(formats_, shape.format) == formats_.end())
      formats_.push_back(shape.format);
  std::ranges::sort(formats_);
  if (options.verdict_folder.empty()) return;
  Hash128 hash;
  hash.add(kScalarTrialVersion);
  hash.add(device.info().name);
  hash.add(device.info().description);
  hash.add(scalars_->scalar_version());
  for (const WeightFormat format : formats_) hash.add(name_of(format));
  path_ = options.verdict_folder + "/" + hash.value().text() + ".products";
}

void ScalarChoice::choose() const {
  if (formats_.empty()) return;
  const Verdict verdict = find_verdict(path_, options_.may_try,
                                       [this] { return make_verdict(device_, *scalars_, formats_, options_.trial); });
  if (verdict.found == Verdict::Found::none) return scalars_->describe_scalars(", scalar units not tried yet");
  const bool is_scalar = verdict.found == Verdict::Found::used;
  scalars_->use_scalar_products(is_scalar);
  scalars_->describe_scalars((is_scalar ? ", few rows on scalar units: " : ", scalar units not used: ") +
                             verdict.reason);
}

}  // namespace pagoda::device
