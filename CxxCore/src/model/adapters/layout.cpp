// Adapters change the projections of attention, Gated DeltaNet and MLPs, including that of a shared expert.
#include "model/adapters/layout.h"

#include <algorithm>
#include <span>

#include "base/assign_or_return.h"
#include "base/concat.h"
#include "io/lora/lora_config.h"

namespace pagoda::model {
namespace {

static_assert(io::kMaxLoraRank == device::kMaxAdapterRank);

bool is_adaptable(const io::ModelConfig& config, const WeightGroup& group) {
  if (group.layer_index < 0 || group.layer_index >= config.num_layers) return false;
  const bool is_recurrent = config.layers[static_cast<size_t>(group.layer_index)] == io::LayerKind::linear_attention;
  if (group.role == Role::mixer_in || group.role == Role::mixer_out)
    return is_recurrent ? !config.channel_decay : !config.has_latents();
  return group.role == Role::mlp_in || group.role == Role::mlp_out;
}

// model.language_model.layers.3.mlp.up_proj.weight -> layers.3.mlp.up_proj
std::string projection_name(const std::string& tensor) {
  constexpr std::string_view kEnd = ".weight";
  const size_t begin = tensor.find("layers.");
  if (begin == tensor.npos || !tensor.ends_with(kEnd)) return {};
  return tensor.substr(begin, tensor.size() - kEnd.size() - begin);
}

Status refuse(const io::LoraFile& file, const io::LoraPair& pair) {
  return make_error(StatusCode::unsupported,
                    concat(file.file_name(), ": ", pair.module,
                           " cannot be adapted: adapters change projections of attention, Gated DeltaNet and MLPs in "
                           "the layers of this model, not routers, routed experts, embeddings or heads"));
}

Status check_pair(const AdapterLayout& layout, const io::LoraFile& file, const io::LoraPair& pair) {
  const auto [target, part] = layout.find(pair.name);
  if (target < 0) return refuse(file, pair);
  const AdapterTarget& found = layout.targets()[static_cast<size_t>(target)];
  const int64_t rows = found.parts[static_cast<size_t>(part)].rows;
  if (pair.in == found.cols && pair.out == rows) return ok_status();
  return make_error(StatusCode::bad_file,
                    concat(file.file_name(), ": ", pair.module, " maps ", pair.in, " numbers to ", pair.out,
                           ", but the model's projection maps ", found.cols, " to ", rows));
}

// [out, rank] -> [rank, out], with rows in the order of the weight, times the scale.
void append_b(const io::LoraPair& pair, std::span<const int32_t> row_order, const std::vector<float>& b,
              std::vector<float>& values) {
  for (int64_t r = 0; r < pair.rank; ++r)
    for (int64_t n = 0; n < pair.out; ++n) {
      const int64_t row = row_order.empty() ? n : row_order[static_cast<size_t>(n)];
      values.push_back(static_cast<float>(pair.scale * b[static_cast<size_t>(row * pair.rank + r)]));
    }
}

}  // namespace

AdapterLayout::AdapterLayout(const io::ModelConfig& config, const std::vector<WeightGroup>& groups) {
  for (const WeightGroup& group : groups) {
    if (!group.is_matrix || !is_adaptable(config, group)) continue;
    AdapterTarget target{group.layer_index, group.role, group.cols, {}};
    int64_t first = 0;
    for (const WeightGroup::Part& part : group.parts) {
      target.parts.push_back({projection_name(part.name), first, part.rows, part.row_order});
      first += part.rows;
    }
    if (target.parts.size() <= static_cast<size_t>(device::kMaxAdapterParts)) targets_.push_back(std::move(target));
  }
}

std::pair<int, int> AdapterLayout::find(const std::string& name) const noexcept {
  for (size_t t = 0; t < targets_.size() && !name.empty(); ++t)
    for (size_t p = 0; p < targets_[t].parts.size(); ++p)
      if (targets_[t].parts[p].name == name) return {static_cast<int>(t), static_cast<int>(p)};
  return {-1, 0};
}

int AdapterLayout::find(int layer_index, Role role) const noexcept {
  const auto found = std::ranges::find_if(
      targets_, [=](const AdapterTarget& target) { return target.layer_index == layer_index && target.role == role; });
  return found == targets_.end() ? -1 : static_cast<int>(found - targets_.begin());
}

Result<int64_t> image_size(const AdapterLayout& layout, const io::LoraFile& file) {
  int64_t size = 0;
  for (const io::LoraPair& pair : file.pairs()) {
    PAGODA_RETURN_IF_ERROR(check_pair(layout, file, pair));
    size += pair.rank * (pair.in + pair.out);
  }
  return size;
}

Result<AdapterImage> make_image(const AdapterLayout& layout, const io::LoraFile& file) {
  PAGODA_ASSIGN_OR_RETURN(const int64_t size, image_size(layout, file));
  AdapterImage image;
  image.values.reserve(static_cast<size_t>(size));
  Hash128 hash;
  for (const io::LoraPair& pair : file.pairs()) {
    const auto [target, part] = layout.find(pair.name);
    PAGODA_ASSIGN_OR_RETURN(const std::vector<float> a, file.read_a(pair));
    PAGODA_ASSIGN_OR_RETURN(const std::vector<float> b, file.read_b(pair));
    AdapterImage::Entry entry{.target = target, .part = part, .rank = pair.rank};
    entry.a = static_cast<int64_t>(image.values.size());
    image.values.insert(image.values.end(), a.begin(), a.end());
    entry.b = static_cast<int64_t>(image.values.size());
    append_b(pair, layout.targets()[static_cast<size_t>(target)].parts[static_cast<size_t>(part)].row_order, b,
             image.values);
    image.max_rank = std::max(image.max_rank, pair.rank);
    hash.add(pair.name);
    hash.add(static_cast<uint64_t>(pair.rank));
    image.entries.push_back(entry);
  }
  hash.add(std::as_bytes(std::span(image.values)));
  image.identity = hash.value();
  return image;
}

}  // namespace pagoda::model
