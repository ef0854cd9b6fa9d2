// Adapters change the projections of attention, Gated DeltaNet and MLPs, and routers, shared and routed experts.
#include "model/adapters/layout.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "base/concat.h"

namespace pagoda::model {
namespace {

bool is_routed(Role role) noexcept { return role == Role::experts_in || role == Role::experts_out; }

bool is_adaptable(const io::ModelConfig& config, const WeightGroup& group) {
  if (group.layer_index < 0 || group.layer_index >= config.num_layers) return false;
  const bool is_recurrent = config.layers[static_cast<size_t>(group.layer_index)] == io::LayerKind::linear_attention;
  if (group.role == Role::mixer_in || group.role == Role::mixer_out)
    return is_recurrent ? !config.channel_decay : !config.has_latents();
  return group.role == Role::mlp_in || group.role == Role::mlp_out || group.role == Role::router ||
         is_routed(group.role);
}

// model.language_model.layers.3.mlp.up_proj.weight -> layers.3.mlp.up_proj
std::string projection_name(const std::string& tensor) {
  constexpr std::string_view kEnd = ".weight";
  const size_t begin = tensor.find("layers.");
  if (begin == tensor.npos || !tensor.ends_with(kEnd)) return {};
  return tensor.substr(begin, tensor.size() - kEnd.size() - begin);
}

// Of one expert: the weight has padding between its parts, adapters have none.
void add_routed_parts(const io::ModelConfig& config, AdapterTarget& target) {
  target.num_experts = config.num_experts;
  if (target.role == Role::experts_in) {
    target.parts.push_back({{}, 0, config.expert_size, {}});                               // gate
    target.parts.push_back({{}, io::padded_expert_size(config), config.expert_size, {}});  // up
  } else {
    target.cols = config.expert_size;
    target.parts.push_back({{}, 0, config.hidden_size, {}});
  }
}

// Reads a number at the start of `text` and removes it.
std::optional<int> take_number(std::string_view& text) noexcept {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < 0) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return value;
}

bool take(std::string_view& text, std::string_view begin) noexcept {
  if (!text.starts_with(begin)) return false;
  text.remove_prefix(begin.size());
  return true;
}

struct RoutedName {
  int layer_index = 0;
  std::optional<int> expert;    // absent: a stack of all
  std::string_view projection;  // gate_proj, for example; empty: a parameter
};

// layers.3.mlp.experts.7.gate_proj, layers.3.mlp.switch_mlp.gate_proj, layers.3.mlp.experts
std::optional<RoutedName> read_routed_name(std::string_view name) noexcept {
  RoutedName read;
  if (!take(name, "layers.")) return std::nullopt;
  const auto layer = take_number(name);
  if (!layer || (!take(name, ".mlp.") && !take(name, ".block_sparse_moe."))) return std::nullopt;
  read.layer_index = *layer;
  if (name == "experts") return read;
  if (take(name, "experts.")) {
    read.expert = take_number(name);
    if (!read.expert || !take(name, ".")) return std::nullopt;
  } else if (!take(name, "switch_mlp.")) {
    return std::nullopt;
  }
  read.projection = name;
  return read;
}

}  // namespace

AdapterLayout::AdapterLayout(const io::ModelConfig& config, const std::vector<WeightGroup>& groups) {
  for (const WeightGroup& group : groups) {
    if (!group.is_matrix || !is_adaptable(config, group)) continue;
    AdapterTarget target{group.layer_index, group.role, group.cols, {}};
    if (is_routed(group.role)) {
      add_routed_parts(config, target);
    } else {
      int64_t first = 0;
      for (const WeightGroup::Part& part : group.parts) {
        target.parts.push_back({projection_name(part.name), first, part.rows, part.row_order});
        first += part.rows;
      }
    }
    // GGUF has two parts of an indexer beside the projections of attention, under names that no adapter has.
    if (target.parts.size() > static_cast<size_t>(device::kMaxAdapterParts))
      std::erase_if(target.parts, [](const auto& part) { return part.name.find(".indexer.") != part.name.npos; });
    if (target.parts.size() <= static_cast<size_t>(device::kMaxAdapterParts)) targets_.push_back(std::move(target));
  }
}

int AdapterLayout::find(int layer_index, Role role) const noexcept {
  const auto found = std::ranges::find_if(
      targets_, [=](const AdapterTarget& target) { return target.layer_index == layer_index && target.role == role; });
  return found == targets_.end() ? -1 : static_cast<int>(found - targets_.begin());
}

std::vector<AdapterPiece> AdapterLayout::find_plain(const std::string& name) const {
  for (size_t t = 0; t < targets_.size() && !name.empty(); ++t)
    for (size_t p = 0; p < targets_[t].parts.size(); ++p)
      if (targets_[t].parts[p].name == name)
        return {{static_cast<int>(t), static_cast<int>(p), 0, 0, targets_[t].parts[p].rows}};
  return {};
}

// A parameter's name is not in the file: its shape says which one it is.
std::vector<AdapterPiece> AdapterLayout::find_routed(const io::LoraPair& pair) const {
  const std::optional<RoutedName> name = read_routed_name(pair.name);
  if (!name || name->projection.empty() != pair.is_parameter) return {};
  const int in = find(name->layer_index, Role::experts_in), out = find(name->layer_index, Role::experts_out);
  if (in < 0 || out < 0) return {};
  const int64_t size = targets_[static_cast<size_t>(out)].cols, hidden = targets_[static_cast<size_t>(in)].cols;
  const int64_t expert = name->expert.value_or(0);
  const std::string_view projection = name->projection;
  if (pair.is_parameter && pair.in == hidden && pair.out == 2 * size)
    return {{in, 0, 0, 0, size}, {in, 1, 0, size, size}};
  if (pair.is_parameter || projection == "down_proj" || projection == "w2") return {{out, 0, expert, 0, hidden}};
  if (projection == "gate_proj" || projection == "w1") return {{in, 0, expert, 0, size}};
  if (projection == "up_proj" || projection == "w3") return {{in, 1, expert, 0, size}};
  return {};
}

Result<AdapterPlace> AdapterLayout::place(const io::LoraPair& pair, const std::string& file_name) const {
  const auto bad = [&](const std::string& what) {
    return make_error(StatusCode::bad_file, concat(file_name, ": ", pair.module, " ", what));
  };
  AdapterPlace place{pair, find_plain(pair.name)};
  if (place.pieces.empty()) place.pieces = find_routed(pair);
  if (place.pieces.empty())
    return make_error(StatusCode::unsupported,
                      concat(file_name, ": ", pair.module,
                             " cannot be adapted: adapters change projections of attention, Gated DeltaNet, MLPs, "
                             "routers and experts in the layers of this model, not embeddings, heads or norms"));
  const auto fits = [&] {
    int64_t rows = 0;
    for (const AdapterPiece& piece : place.pieces) rows += piece.num_rows;
    return place.pair.in == targets_[static_cast<size_t>(place.pieces.front().target)].cols && place.pair.out == rows;
  };
  if (pair.is_parameter && !fits()) {
    place.pair = pair.transposed();
    place.pieces = find_routed(place.pair);
  }
  const AdapterTarget& target = targets_[static_cast<size_t>(place.pieces.front().target)];
  if (!fits())
    return bad(concat("maps ", pair.in, " numbers to ", pair.out, ", but the model's projection maps ", target.cols,
                      " to ", place.pieces.front().num_rows));
  if (pair.num_experts > 0 && pair.num_experts != target.num_experts)
    return bad(concat("is of ", pair.num_experts, " experts; the model has ", target.num_experts));
  if (is_routed(target.role) && (pair.num_experts > 0) == read_routed_name(pair.name)->expert.has_value())
    return bad(pair.num_experts > 0 ? "is of all experts, but has the number of one" : "has the number of no expert");
  if (place.pieces.front().expert >= target.num_experts)
    return bad(concat("is of an expert that the model, with ", target.num_experts, ", does not have"));
  return place;
}

}  // namespace pagoda::model
