// Streams the conversion: memory use is some 16 MiB of rows plus the scales and biases of the current matrix.
#include "io/quantize/files.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>

#include "base/assign_or_return.h"
#include "base/quoted.h"
#include "base/threads/thread_pool.h"
#include "base/threads/usable_cores.h"
#include "io/output_folder.h"
#include "io/quantize/affine.h"
#include "io/quantize/plan.h"

namespace pagoda::io {
namespace {

constexpr uint64_t kChunkBytes = 16 << 20;
constexpr uint64_t kMaxConfigBytes = 16 << 20;
constexpr uint64_t kMaxCopiedBytes = 256 << 20;

void to_float(DType dtype, const std::byte* bytes, std::span<float> out) noexcept {
  if (dtype == DType::f32) return void(std::memcpy(out.data(), bytes, out.size_bytes()));
  for (size_t i = 0; i < out.size(); ++i) {
    uint16_t bits;
    std::memcpy(&bits, bytes + 2 * i, 2);
    out[i] = dtype == DType::bf16 ? bf16_to_f32(bits) : f16_to_f32(bits);
  }
}

void append_float(DType dtype, float value, std::vector<std::byte>& out) {
  const uint16_t half = dtype == DType::bf16 ? f32_to_bf16(value) : f32_to_f16(value);
  const auto* bytes =
      dtype == DType::f32 ? reinterpret_cast<const std::byte*>(&value) : reinterpret_cast<const std::byte*>(&half);
  out.insert(out.end(), bytes, bytes + dtype_bytes(dtype));
}

// Files copied along: tokenizer, template, generation settings, licence. Weights in other formats are not copied.
bool is_copied(std::string_view name) {
  if (name == "config.json" || name.ends_with(".safetensors.index.json")) return false;
  for (const std::string_view end : {".json", ".jinja", ".txt", ".model"}) {
    if (name.ends_with(end)) return true;
  }
  return name.starts_with("LICENSE") || name == "README.md";
}

class Quantizer {
 public:
  Quantizer(const Checkpoint& checkpoint, const QuantizePlan& plan, ThreadPool& pool,
            const std::function<bool(double)>& go_on)
      : checkpoint_(checkpoint),
        plan_(plan),
        pool_(pool),
        go_on_(go_on),
        row_(static_cast<size_t>(pool.num_threads())) {}

  Status write_shard(const QuantizeShard& shard, const std::string& path) {
    PAGODA_ASSIGN_OR_RETURN(SafetensorsWriter writer, SafetensorsWriter::create(path, shard.tensors));
    for (const QuantizeTask& task : shard.tasks) {
      PAGODA_RETURN_IF_ERROR(task.is_quantized ? quantize(task, writer) : copy(task.entry, writer));
    }
    return writer.commit();
  }

 private:
  Status read(const TensorEntry& entry, uint64_t begin, uint64_t count) {
    bytes_.resize(count);
    PAGODA_RETURN_IF_ERROR(checkpoint_.read(entry, begin, bytes_));
    done_bytes_ += count;
    const double fraction =
        static_cast<double>(done_bytes_) / static_cast<double>(std::max<uint64_t>(plan_.input_bytes, 1));
    return go_on_(fraction) ? ok_status() : make_error(StatusCode::cancelled, "cancelled");
  }

  Status copy(const TensorEntry& entry, SafetensorsWriter& writer) {
    for (uint64_t begin = 0; begin < entry.size_bytes; begin += kChunkBytes) {
      PAGODA_RETURN_IF_ERROR(read(entry, begin, std::min(kChunkBytes, entry.size_bytes - begin)));
      PAGODA_RETURN_IF_ERROR(writer.write(bytes_));
    }
    return ok_status();
  }

  Status quantize(const QuantizeTask& task, SafetensorsWriter& writer) {
    const uint64_t rows = static_cast<uint64_t>(task.entry.shape[0]);
    const uint64_t row_bytes = task.entry.size_bytes / rows;
    const uint64_t rows_per_chunk = std::max<uint64_t>(kChunkBytes / row_bytes, 1);
    std::vector<std::byte> scales, biases;
    for (uint64_t row = 0; row < rows; row += rows_per_chunk) {
      const uint64_t count = std::min(rows_per_chunk, rows - row);
      PAGODA_RETURN_IF_ERROR(read(task.entry, row * row_bytes, count * row_bytes));
      if (!quantize_rows(task.entry, count)) {
        return make_error(StatusCode::bad_file, "tensor " + io::quoted(task.name) + " has a number that is not finite");
      }
      PAGODA_RETURN_IF_ERROR(writer.write(std::as_bytes(std::span(words_))));
      for (const AffineGroup& group : groups_) {
        append_float(task.entry.dtype, group.scale, scales);
        append_float(task.entry.dtype, group.bias, biases);
      }
    }
    PAGODA_RETURN_IF_ERROR(writer.write(scales));
    return writer.write(biases);
  }

  // Quantises the `count` rows in bytes_; returns false if a number in them is not finite.
  bool quantize_rows(const TensorEntry& entry, uint64_t count) {
    const size_t columns = static_cast<size_t>(entry.shape[1]);
    const size_t words = columns * static_cast<size_t>(plan_.bits) / 32;
    const size_t groups = columns / static_cast<size_t>(plan_.group_size);
    words_.resize(count * words);
    groups_.resize(count * groups);
    for (std::vector<float>& row : row_) row.resize(columns);
    std::atomic<bool> is_finite = true;
    pool_.parallel_for(static_cast<int64_t>(count), [&](int64_t index, int thread) {
      const size_t i = static_cast<size_t>(index);
      std::vector<float>& row = row_[thread];
      to_float(entry.dtype, bytes_.data() + i * columns * dtype_bytes(entry.dtype), row);
      if (!std::all_of(row.begin(), row.end(), [](float w) { return std::isfinite(w); })) {
        is_finite = false;
        return;
      }
      quantize_row(row, plan_.bits, plan_.group_size, words_.data() + i * words, groups_.data() + i * groups);
    });
    return is_finite;
  }

  const Checkpoint& checkpoint_;
  const QuantizePlan& plan_;
  ThreadPool& pool_;
  const std::function<bool(double)>& go_on_;
  uint64_t done_bytes_ = 0;              // how many of plan_.input_bytes are done
  std::vector<std::byte> bytes_;         // rows as stored in the file
  std::vector<std::vector<float>> row_;  // per thread
  std::vector<uint32_t> words_;          // for the rows in bytes_
  std::vector<AffineGroup> groups_;      // for the rows in bytes_
};

Status write_text(const std::string& path, std::string_view text) {
  PAGODA_ASSIGN_OR_RETURN(std::unique_ptr<FileWriter> file, FileWriter::create(path));
  PAGODA_RETURN_IF_ERROR(file->write(std::as_bytes(std::span(text))));
  return file->commit();
}

Status write_side_files(const ModelFiles& files, const Json& config, const QuantizePlan& plan,
                        const OutputFolder& out) {
  for (const std::string& name : files.names()) {
    if (!is_copied(name)) continue;
    PAGODA_ASSIGN_OR_RETURN(std::string text, files.read_text(name, kMaxCopiedBytes));
    PAGODA_RETURN_IF_ERROR(write_text(out.file(name), text));
  }
  PAGODA_RETURN_IF_ERROR(write_text(out.file("model.safetensors.index.json"), quantized_index(plan)));
  return write_text(out.file("config.json"), quantized_config(config, plan.bits, plan.group_size));
}

Status quantize_into(const ModelFiles& files, const std::string& folder, const QuantizeOptions& options,
                     const std::function<bool(double)>& go_on, uint64_t max_shard_bytes, QuantizeResult& result) {
  if (options.bits != 4 && options.bits != 8) return make_error(StatusCode::invalid_argument, "bits must be 4 or 8");
  if (options.group_size != 32 && options.group_size != 64 && options.group_size != 128) {
    return make_error(StatusCode::invalid_argument, "the group size must be 32, 64 or 128");
  }
  // Most GGUF files are already quantised, and their row order differs from MLX's.
  if (!files.gguf_parts().empty()) {
    return make_error(StatusCode::unsupported,
                      files.description() + ": GGUF files cannot be quantised; use safetensors");
  }
  PAGODA_ASSIGN_OR_RETURN(std::string text, files.read_text("config.json", kMaxConfigBytes));
  Result<Json> config = parse_json(text);
  if (!config.is_ok()) return make_error(config.status.code, "config.json: " + config.status.message);
  if (!config->is_object()) return make_error(StatusCode::bad_file, "config.json: is not an object");
  PAGODA_ASSIGN_OR_RETURN(Checkpoint checkpoint, Checkpoint::open(files));
  PAGODA_ASSIGN_OR_RETURN(QuantizePlan plan,
                          plan_quantize(checkpoint, *config, options.bits, options.group_size, max_shard_bytes));
  PAGODA_ASSIGN_OR_RETURN(std::unique_ptr<ThreadPool> pool,
                          ThreadPool::create(options.num_threads > 0 ? options.num_threads : usable_cores()));

  constexpr uint64_t kSideBytes = 64 << 20;  // tokenizers and similar files
  PAGODA_ASSIGN_OR_RETURN(std::unique_ptr<OutputFolder> out,
                          OutputFolder::create(folder, plan.output_bytes + kSideBytes));
  Quantizer quantizer(checkpoint, plan, *pool, go_on);
  for (const QuantizeShard& shard : plan.shards) {
    PAGODA_RETURN_IF_ERROR(quantizer.write_shard(shard, out->file(shard.file_name)));
  }
  PAGODA_RETURN_IF_ERROR(write_side_files(files, *config, plan, *out));
  PAGODA_RETURN_IF_ERROR(out->commit());
  result.input_bytes = static_cast<int64_t>(plan.input_bytes);
  result.output_bytes = static_cast<int64_t>(plan.output_bytes);
  result.num_quantized = plan.num_quantized;
  result.num_files = static_cast<int32_t>(plan.shards.size());
  return ok_status();
}

}  // namespace

QuantizeResult quantize_files(const ModelFiles& files, const std::string& folder, const QuantizeOptions& options,
                              const std::function<bool(double)>& go_on, uint64_t max_shard_bytes) {
  QuantizeResult result;
  result.status = quantize_into(files, folder, options, go_on, max_shard_bytes, result);
  return result;
}

}  // namespace pagoda::io
