// VisionTower: memory, and the order of the parts of an image.
#include "model/vision/tower.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/assign_or_return.h"
#include "base/concat.h"
#include "model/vision/positions.h"

namespace pagoda::model {
namespace {

constexpr int64_t kCacheMultiple = 16;  // kernels read keys in groups of 16

// The most patches of one part: a part fills the device, and takes some milliseconds.
int64_t max_part_patches(const device::DeviceInfo& device) noexcept {
  if (device.has_own_memory) return 4096;
  return device.runs_beside_host ? 1024 : 256;
}

DType cache_dtype(WeightFormat format) noexcept { return format == WeightFormat::f32 ? DType::f32 : DType::bf16; }

int64_t max_patches(const io::VisionConfig& config, int32_t max_tokens) noexcept {
  return int64_t{max_tokens} * config.merged_patches();
}

// A part consists of whole tokens.
int64_t patches_per_part(const io::VisionConfig& config, const device::DeviceInfo& device) noexcept {
  const int64_t merged = config.merged_patches();
  return std::max<int64_t>(max_part_patches(device) / merged, 1) * merged;
}

// Rows of one head are contiguous.
device::Tensor take_cache(Arena& arena, DType dtype, int64_t patches, int64_t heads, int64_t dim) noexcept {
  device::Tensor cache = arena.take(dtype, {1, patches, heads, dim});
  cache.strides = {patches * heads * dim, dim, patches * dim, 1};
  return cache;
}

}  // namespace

VisionTower::VisionTower(const io::VisionConfig& config, std::unique_ptr<device::Device> device, int32_t max_tokens)
    : config_(config), device_(std::move(device)), max_tokens_(max_tokens) {}

device::KernelNeeds VisionTower::needs(const io::VisionConfig& config) noexcept {
  return {.block_size = kCacheMultiple, .head_dim = config.head_dim()};
}

int64_t VisionTower::part_size() const noexcept { return patches_per_part(config_, device_->info()); }

VisionTower::Buffers VisionTower::plan(const io::VisionConfig& config, const device::DeviceInfo& device,
                                       WeightFormat format, int32_t max_tokens, Arena& arena) noexcept {
  const int64_t patches = max_patches(config, max_tokens), part = std::min(patches_per_part(config, device), patches);
  const int64_t width = config.hidden_size, heads = config.num_heads, dim = config.head_dim();
  const int64_t cached = (patches + kCacheMultiple - 1) / kCacheMultiple * kCacheMultiple;
  Buffers b;
  b.x = arena.take(DType::f32, {patches, width});
  b.q = arena.take(DType::f32, {patches, width});
  b.k = take_cache(arena, cache_dtype(format), cached, heads, dim);
  b.v = take_cache(arena, cache_dtype(format), cached, heads, dim);
  b.patches = arena.take(DType::f32, {part, config.patch_dim()});
  b.normed = arena.take(DType::f32, {part, width});
  b.projected = arena.take(DType::f32, {part, 3 * width});
  b.mixed = arena.take(DType::f32, {part, width});
  b.delta = arena.take(DType::f32, {part, width});
  b.inner = arena.take(DType::f32, {part, config.intermediate_size});
  b.merged_in = arena.take(DType::f32, {part / config.merged_patches(), config.merged_size()});
  b.merged = arena.take(DType::f32, {part / config.merged_patches(), config.out_hidden_size});
  b.rows = arena.take(DType::i32, {patches});
  b.cols = arena.take(DType::i32, {patches});
  b.slots = arena.take(DType::i64, {patches});
  b.bounds = arena.take(DType::i32, {2});
  b.context = arena.take(DType::i32, {1});
  b.block_table = arena.take(DType::i32, {1, 1});
  b.inv_freq = arena.take(DType::f32, {2, dim / 2});
  return b;
}

device::StepLimits VisionTower::limits(const io::VisionConfig& config, const device::DeviceInfo& device,
                                       int32_t max_tokens) noexcept {
  device::StepLimits limits;
  limits.tokens = std::min(patches_per_part(config, device), max_patches(config, max_tokens));
  limits.cols = std::max({config.patch_dim(), config.intermediate_size, config.merged_size()});
  limits.sequences = 1;
  limits.context = max_patches(config, max_tokens);
  limits.heads = config.num_heads;
  limits.head_dim = config.head_dim();
  return limits;
}

int64_t VisionTower::workspace_bytes(const io::VisionConfig& config, const device::Device& device, WeightFormat format,
                                     int32_t max_tokens) noexcept {
  Arena arena;
  plan(config, device.info(), format, max_tokens, arena);
  return arena.size_bytes() + static_cast<int64_t>(device.reserve_bytes(limits(config, device.info(), max_tokens)));
}

Result<std::unique_ptr<VisionTower>> VisionTower::load(const io::VisionConfig& config, const io::Checkpoint& checkpoint,
                                                       std::unique_ptr<device::Device> device, WeightFormat format,
                                                       int32_t max_tokens) {
  if (max_tokens < 1) return make_error(StatusCode::invalid_argument, "an image must have at least one token");
  std::unique_ptr<VisionTower> tower(new VisionTower(config, std::move(device), max_tokens));
  device::Device& on = *tower->device_;
  PAGODA_ASSIGN_OR_RETURN(tower->weights_, TowerWeights::load(config, checkpoint, on, format));
  Arena size;
  plan(config, on.info(), format, max_tokens, size);
  PAGODA_ASSIGN_OR_RETURN(tower->buffer_,
                          on.allocate(static_cast<size_t>(size.size_bytes()), "activations of the vision tower"));
  Arena arena(tower->buffer_.get());
  tower->buffers_ = plan(config, on.info(), format, max_tokens, arena);
  PAGODA_RETURN_IF_ERROR(on.reserve(limits(config, on.info(), max_tokens)));
  tower->host_rows_.resize(static_cast<size_t>(tower->part_size()) *
                           static_cast<size_t>(std::max({config.patch_dim(), config.hidden_size,
                                                         config.out_hidden_size / config.merged_patches() + 1})));
  PAGODA_RETURN_IF_ERROR(tower->upload_constants());
  return tower;
}

// Half of a head's frequencies rotate by the row, the other half, with the same values, by the column.
Status VisionTower::upload_constants() {
  std::vector<int64_t> slots(static_cast<size_t>(buffers_.slots.shape[0]));
  std::iota(slots.begin(), slots.end(), 0);
  PAGODA_RETURN_IF_ERROR(device_->upload(buffers_.slots, slots.data(), slots.size() * sizeof(int64_t)));
  const int32_t block = 0;
  PAGODA_RETURN_IF_ERROR(device_->upload(buffers_.block_table, &block, sizeof block));
  const size_t quarter = static_cast<size_t>(config_.head_dim()) / 4;
  std::vector<float> speeds(4 * quarter);
  for (size_t i = 0; i < quarter; ++i)
    speeds[i] = speeds[3 * quarter + i] =
        static_cast<float>(std::pow(config_.rope_theta, -static_cast<double>(i) / static_cast<double>(quarter)));
  return device_->upload(buffers_.inv_freq, speeds.data(), speeds.size() * sizeof(float));
}

int64_t VisionTower::num_parts(int32_t num_patches) const noexcept {
  const int64_t parts = (num_patches + part_size() - 1) / part_size();
  return parts * static_cast<int64_t>(2 * weights_.blocks.size() + config_.deep_blocks.size() + 2);
}

Status VisionTower::check(const PreparedImage& image) const {
  const auto refuse = [](const std::string& why) {
    return make_error(StatusCode::invalid_argument, "the image " + why);
  };
  if (image.num_tokens() < 1) return refuse("is empty");
  if (image.patch_dim() != config_.patch_dim() || image.num_patches() != image.num_tokens() * config_.merged_patches())
    return refuse(concat("is cut into patches of ", image.patch_dim(), " numbers, ",
                         image.num_patches() / image.num_tokens(), " to a token; the model takes ", config_.patch_dim(),
                         " and ", config_.merged_patches()));
  if (image.num_tokens() > max_tokens_)
    return refuse(concat("has ", image.num_tokens(), " tokens; the limit is ", max_tokens_));
  return ok_status();
}

Status VisionTower::begin(const PreparedImage& image, std::span<float> rows) {
  PAGODA_RETURN_IF_ERROR(check(image));
  if (rows.size() != static_cast<size_t>(image.num_tokens()) * static_cast<size_t>(config_.row_size()))
    return make_error(StatusCode::internal, "the rows of an image have another size than its tokens");
  image_ = {};
  const auto count = static_cast<size_t>(image.num_patches());
  std::vector<int32_t> places[2] = {std::vector<int32_t>(count), std::vector<int32_t>(count)};
  for (size_t i = 0; i < count; ++i) {
    const PatchPlace place = patch_place(static_cast<int32_t>(i), image.grid_w(), config_.merge_size);
    places[0][i] = place.row;
    places[1][i] = place.column;
  }
  PAGODA_RETURN_IF_ERROR(device_->upload(buffers_.rows, places[0].data(), count * sizeof(int32_t)));
  PAGODA_RETURN_IF_ERROR(device_->upload(buffers_.cols, places[1].data(), count * sizeof(int32_t)));
  const int32_t num_patches = image.num_patches();
  PAGODA_RETURN_IF_ERROR(device_->upload(buffers_.context, &num_patches, sizeof num_patches));
  image_ = image;
  out_ = rows;
  phase_ = Phase::embed;
  block_ = 0;
  is_added_ = false;
  next_patch_ = 0;
  return ok_status();
}

Result<bool> VisionTower::advance() {
  if (image_.num_patches() == 0) return make_error(StatusCode::internal, "advance() without an image");
  const int64_t count = std::min(part_size(), image_.num_patches() - next_patch_);
  Status encoded = run_part(next_patch_, count);
  Status done = device_->encoder().submit().wait();  // even after an error, so that the encoder is empty
  if (encoded.is_ok()) encoded = std::move(done);
  if (encoded.is_ok() && (phase_ == Phase::merge || phase_ == Phase::deepen))
    encoded = download_rows(next_patch_, count);
  if (!encoded.is_ok()) {
    image_ = {};
    return encoded;
  }
  next_patch_ += count;
  if (next_patch_ < image_.num_patches()) return false;
  next_patch_ = 0;
  if (phase_ == Phase::merge) {
    image_ = {};
    return true;
  }
  next_phase();
  return false;
}

void VisionTower::next_phase() {
  const bool had_addition = phase_ != Phase::deepen;
  const auto next_block = [&] { return ++block_ < weights_.blocks.size() ? Phase::project : Phase::merge; };
  switch (phase_) {
    case Phase::embed: phase_ = Phase::project; break;
    case Phase::project: phase_ = Phase::mix; break;
    case Phase::mix: phase_ = feature() >= 0 ? Phase::deepen : next_block(); break;
    case Phase::deepen:
    case Phase::merge: phase_ = next_block(); break;
  }
  is_added_ = !had_addition;
}

int64_t VisionTower::feature() const noexcept {
  const auto found = std::ranges::find(config_.deep_blocks, static_cast<int32_t>(block_));
  return found == config_.deep_blocks.end() ? -1 : found - config_.deep_blocks.begin();
}

// An embedding is the first out_hidden_size numbers of a row, and feature i those from (i + 1) * out_hidden_size on.
Status VisionTower::download_rows(int64_t first, int64_t count) {
  const auto tokens = static_cast<size_t>(count / config_.merged_patches());
  const auto width = static_cast<size_t>(config_.out_hidden_size), stride = static_cast<size_t>(config_.row_size());
  const std::span<float> rows = std::span(host_rows_).first(tokens * width);
  PAGODA_RETURN_IF_ERROR(device_->download(device::slice(buffers_.merged, 0, 0, static_cast<int64_t>(tokens)),
                                           rows.data(), rows.size_bytes()));
  const size_t part = phase_ == Phase::merge ? 0 : static_cast<size_t>(feature()) + 1;
  float* to = out_.data() + static_cast<size_t>(first / config_.merged_patches()) * stride + part * width;
  for (size_t i = 0; i < tokens; ++i, to += stride) std::ranges::copy(rows.subspan(i * width, width), to);
  return ok_status();
}

Status VisionTower::run_part(int64_t first, int64_t count) {
  switch (phase_) {
    case Phase::embed: return embed(first, count);
    case Phase::project: return project(weights_.blocks[block_], first, count);
    case Phase::mix: return mix(weights_.blocks[block_], first, count);
    case Phase::deepen: return deepen(first, count);
    case Phase::merge: return merge(first, count);
  }
  return ok_status();
}

}  // namespace pagoda::model
