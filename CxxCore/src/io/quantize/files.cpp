// Opens a model, plans its copy, and writes it into a folder that appears when it is complete.
#include "io/quantize/files.h"

#include "base/assign_or_return.h"
#include "base/threads/thread_pool.h"
#include "base/threads/usable_cores.h"
#include "io/output_folder.h"
#include "io/quantize/copied_config.h"
#include "io/quantize/plan.h"
#include "io/quantize/quantizer.h"

namespace pagoda::io {
namespace {

constexpr uint64_t kMaxConfigBytes = 16 << 20;
constexpr uint64_t kMaxCopiedBytes = 256 << 20;

// Files copied along: tokenizer, template, generation settings, licence. Weights in other formats are not copied.
bool is_copied(std::string_view name) {
  if (name == "config.json" || name.ends_with(".safetensors.index.json")) return false;
  for (const std::string_view end : {".json", ".jinja", ".txt", ".model"}) {
    if (name.ends_with(end)) return true;
  }
  return name.starts_with("LICENSE") || name == "README.md";
}

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
  return write_text(out.file("config.json"), quantized_config(config, plan));
}

Status quantize_into(const ModelFiles& files, const std::string& folder, const QuantizeOptions& options,
                     const std::function<bool(double)>& go_on, uint64_t max_shard_bytes, QuantizeResult& result) {
  if (options.bits != 4 && options.bits != 8) return make_error(StatusCode::invalid_argument, "bits must be 4 or 8");
  if (options.is_mixed && options.bits != 4)
    return make_error(StatusCode::invalid_argument, "a mix has matrices of 4 and of 8 bits: bits must be 4");
  if (options.group_size != 32 && options.group_size != 64 && options.group_size != 128) {
    return make_error(StatusCode::invalid_argument, "the group size must be 32, 64 or 128");
  }
  PAGODA_ASSIGN_OR_RETURN(std::string text, files.read_text("config.json", kMaxConfigBytes));
  Result<Json> config = parse_json(text);
  if (!config.is_ok()) return make_error(config.status.code, "config.json: " + config.status.message);
  if (!config->is_object()) return make_error(StatusCode::bad_file, "config.json: is not an object");
  PAGODA_ASSIGN_OR_RETURN(Checkpoint checkpoint, Checkpoint::open(files));
  PAGODA_ASSIGN_OR_RETURN(QuantizePlan plan, plan_quantize(checkpoint, *config, options, max_shard_bytes));
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
  result.num_wide = plan.num_wide;
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
