// Opens a checkpoint: one safetensors file, the shards listed in an index, or GGUF files.
#include "io/checkpoint.h"

#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/assign_or_return.h"
#include "base/concat.h"
#include "base/json.h"
#include "base/quoted.h"
#include "io/gguf/tensors.h"
#include "io/quantize/tensors.h"
#include "io/safetensors/safetensors.h"

namespace pagoda::io {
namespace {

constexpr std::string_view kSingleName = "model.safetensors";
constexpr std::string_view kIndexName = "model.safetensors.index.json";
constexpr uint64_t kMaxIndexBytes = 32 << 20;  // the largest Qwen has 92,000 weights and a 12 MB index
constexpr uint64_t kMaxConfigBytes = 4 << 20;
constexpr size_t kMaxIndexValues = 400'000;
constexpr int kMaxIndexDepth = 8;

Status index_error(const std::string& reason) {
  return make_error(StatusCode::bad_file, std::string(kIndexName) + ": " + reason);
}

Result<Json> read_index(const ModelFiles& files) {
  PAGODA_ASSIGN_OR_RETURN(auto text, files.read_text(kIndexName, kMaxIndexBytes));
  auto index = parse_json(text, {.max_depth = kMaxIndexDepth, .max_values = kMaxIndexValues});
  if (!index.is_ok()) return index_error(index.status.message);
  const Json* weight_map = index->find("weight_map");
  if (weight_map == nullptr || !weight_map->is_object()) return index_error("has no object weight_map");
  if (weight_map->members().empty()) return index_error("weight_map lists no weight");
  for (const auto& [weight, shard] : weight_map->members()) {
    if (!shard.is_string()) return index_error("weight " + io::quoted(weight) + ": its file is not a string");
    if (!shard.as_string().ends_with(".safetensors")) {
      return index_error("weight " + io::quoted(weight) + ": its file " + io::quoted(shard.as_string()) +
                         " is no .safetensors file");
    }
  }
  return index;
}

// An invalid shard name is an error of the index, not of the caller.
Result<std::unique_ptr<File>> open_shard(const ModelFiles& files, const std::string& shard) {
  auto file = files.open(shard);
  if (file.is_ok()) return file;
  const bool bad_name = file.status.code == StatusCode::invalid_argument;
  return make_error(bad_name ? StatusCode::bad_file : file.status.code,
                    std::string(kIndexName) + ": " + file.status.message);
}

}  // namespace

Result<Checkpoint> Checkpoint::open(const ModelFiles& files) {
  Checkpoint checkpoint;
  if (!files.gguf_parts().empty()) {
    PAGODA_RETURN_IF_ERROR(checkpoint.open_gguf(files.gguf_parts()));
  } else if (files.exists(kSingleName)) {
    PAGODA_RETURN_IF_ERROR(checkpoint.open_single(files));
  } else if (files.exists(kIndexName)) {
    PAGODA_RETURN_IF_ERROR(checkpoint.open_sharded(files));
  } else {
    return make_error(StatusCode::not_found, files.description() + ": has neither " + std::string(kSingleName) +
                                                 " nor " + std::string(kIndexName));
  }
  if (files.gguf_parts().empty() && files.exists("config.json")) {
    PAGODA_ASSIGN_OR_RETURN(const auto config, files.read_text("config.json", kMaxConfigBytes));
    PAGODA_RETURN_IF_ERROR(decode_quantized(config, checkpoint.files_, checkpoint.tensors_));
  }
  return checkpoint;
}

Status Checkpoint::open_single(const ModelFiles& files) {
  PAGODA_ASSIGN_OR_RETURN(auto file, files.open(kSingleName));
  return add_file(std::move(file));
}

Status Checkpoint::open_gguf(std::span<const Gguf> parts) {
  PAGODA_ASSIGN_OR_RETURN(tensors_, gguf_tensors(parts));
  for (const Gguf& part : parts) files_.push_back(part.file());
  return ok_status();
}

Status Checkpoint::open_sharded(const ModelFiles& files) {
  PAGODA_ASSIGN_OR_RETURN(const auto index, read_index(files));
  const auto& weights = index.find("weight_map")->members();
  std::unordered_map<std::string_view, int> file_indices;  // keyed by shard name
  std::unordered_set<std::string_view> listed;
  for (const auto& [weight, shard] : weights) {
    listed.insert(weight);
    if (!file_indices.emplace(shard.as_string(), static_cast<int>(files_.size())).second) continue;
    PAGODA_ASSIGN_OR_RETURN(auto file, open_shard(files, shard.as_string()));
    PAGODA_RETURN_IF_ERROR(add_file(std::move(file)));
  }
  for (const auto& [weight, shard] : weights) {
    const TensorEntry* entry = find(weight);
    if (entry == nullptr || entry->file_index != file_indices.at(shard.as_string())) {
      return index_error("weight " + io::quoted(weight) + " is not in " + io::quoted(shard.as_string()));
    }
  }
  for (const auto& [name, entry] : tensors_) {
    if (!listed.contains(name)) {
      return index_error("tensor " + io::quoted(name) + " of " + file_name(entry.file_index) + " is not listed");
    }
  }
  return ok_status();
}

Status Checkpoint::add_file(std::unique_ptr<File> file) {
  PAGODA_ASSIGN_OR_RETURN(auto tensors, read_safetensors_header(*file, static_cast<int>(files_.size())));
  tensors_.merge(tensors);
  if (!tensors.empty()) {  // merge leaves duplicates behind
    const auto& [name, entry] = *tensors.begin();
    return make_error(StatusCode::bad_file, file->name() + ": tensor " + io::quoted(name) + " is also in " +
                                                file_name(tensors_.at(name).file_index));
  }
  files_.push_back(std::move(file));
  return ok_status();
}

const TensorEntry* Checkpoint::find(const std::string& name) const noexcept {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

Status Checkpoint::read(const TensorEntry& tensor, uint64_t begin, std::span<std::byte> into) const noexcept {
  if (begin > tensor.size_bytes || into.size() > tensor.size_bytes - begin) {
    return make_error(StatusCode::invalid_argument, concat("read of bytes [", begin, ", +", into.size(),
                                                           ") of a tensor of ", tensor.size_bytes, " bytes"));
  }
  return files_[tensor.file_index]->read(tensor.offset_bytes + begin, into);
}

}  // namespace pagoda::io
