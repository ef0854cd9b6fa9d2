// Messages: field by field, in one order for writing and reading.
#include "pipeline/messages.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/concat.h"
#include "base/fnv1a.h"

namespace pagoda::pipeline {
namespace {

constexpr DType kKvTypes[] = {DType::f32, DType::f16, DType::bf16, DType::i8};

Status bad_frame(const std::string& what) {
  return make_error(StatusCode::bad_file, "a frame of the pipeline is broken: " + what);
}

FrameReader body_of(std::span<const std::byte> frame) {
  FrameReader reader(frame);
  (void)reader.get<Kind>();
  return reader;
}

Status check_sizes(const EngineLimits& sizes) {
  struct Row {
    const char* name;
    int64_t value, low, high;
  };
  for (const Row& row : {Row{"num_kv_blocks", sizes.num_kv_blocks, 1, int64_t{1} << 31},
                         {"num_state_slots", sizes.num_state_slots, 0, 1 << 24},
                         {"num_checkpoints", sizes.num_checkpoints, 0, sizes.num_state_slots},
                         {"max_num_tokens", sizes.max_num_tokens, 1, 1 << 24},
                         {"max_num_seqs", sizes.max_num_seqs, 1, 1 << 16},
                         {"max_logits_rows", sizes.max_logits_rows, 0, 1 << 24},
                         {"max_blocks_per_seq", sizes.max_blocks_per_seq, 1, 1 << 26},
                         {"block_size", sizes.block_size, 1, 1 << 10},
                         {"max_state_saves", sizes.max_state_saves, 0, 1 << 24},
                         {"max_model_len", sizes.max_model_len, 1, 1 << 28},
                         {"max_draft_rows", sizes.max_draft_rows, 0, 1 << 24},
                         {"attention_window", sizes.attention_window, 0, INT32_MAX}})
    if (row.value < row.low || row.value > row.high)
      return bad_frame(concat(row.name, " is ", row.value, ", it must be ", row.low, " to ", row.high));
  return ok_status();
}

int32_t num_used(const model::ForwardBatch& batch, size_t b, const EngineLimits& sizes) noexcept {
  return (batch.context_lens[b] + sizes.block_size - 1) / sizes.block_size;
}

}  // namespace

uint64_t model_identity(const std::string& config_json, const io::Checkpoint& checkpoint) {
  Fnv1a hash;
  hash.add(config_json);
  for (const auto& [name, tensor] : checkpoint.tensors()) {
    hash.add(name);
    hash.add(static_cast<uint64_t>(tensor.dtype));
    hash.add(static_cast<uint64_t>(tensor.bits));
    for (const int64_t size : tensor.shape) hash.add(static_cast<uint64_t>(size));
  }
  return hash.value();
}

Kind kind_of(std::span<const std::byte> frame) { return FrameReader(frame).get<Kind>(); }

Bytes encode(const Hello& hello) {
  FrameWriter writer(Kind::hello);
  writer.put(hello.protocol);
  writer.put(hello.byte_order);
  writer.put(hello.model);
  writer.put_text(hello.model_name);
  writer.put(hello.memory_bytes);
  writer.put(hello.speed);
  return writer.take();
}

Result<Hello> decode_hello(std::span<const std::byte> frame) {
  if (kind_of(frame) == Kind::failed) return decode_failure(frame);
  if (kind_of(frame) != Kind::hello) return bad_frame("the other end does not speak this protocol");
  FrameReader reader = body_of(frame);
  Hello hello;
  hello.protocol = reader.get<uint64_t>();
  hello.byte_order = reader.get<uint32_t>();
  if (hello.protocol != kProtocol)
    return make_error(StatusCode::unsupported, concat("the peer uses version ", hello.protocol,
                                                      " of the pipeline's protocol, this one version ", kProtocol));
  if (hello.byte_order != Hello{}.byte_order)
    return make_error(StatusCode::unsupported, "the other end has another byte order");
  hello.model = reader.get<uint64_t>();
  hello.model_name = reader.get_text();
  hello.memory_bytes = reader.get<int64_t>();
  hello.speed = reader.get<double>();
  if (!reader.is_done() || hello.memory_bytes < 0 || !(hello.speed >= 0)) return bad_frame("hello");
  return hello;
}

Bytes encode(const Assignment& assignment) {
  FrameWriter writer(Kind::assign);
  writer.put(assignment.first_layer);
  writer.put(assignment.end_layer);
  writer.put(assignment.format);
  writer.put(assignment.kv_dtype);
  writer.put(assignment.state_dtype);
  writer.put_text(assignment.rope_scaling);
  writer.put(assignment.sizes);
  return writer.take();
}

Result<Assignment> decode_assignment(std::span<const std::byte> frame) {
  FrameReader reader = body_of(frame);
  Assignment assignment;
  assignment.first_layer = reader.get<int32_t>();
  assignment.end_layer = reader.get<int32_t>();
  assignment.format = reader.get<WeightFormat>();
  assignment.kv_dtype = reader.get<DType>();
  assignment.state_dtype = reader.get<DType>();
  assignment.rope_scaling = reader.get_text();
  assignment.sizes = reader.get<EngineLimits>();
  if (kind_of(frame) != Kind::assign || !reader.is_done()) return bad_frame("assignment");
  const auto is_kv_type = [&](DType type) { return assignment.kv_dtype == type; };
  const bool is_state_type = assignment.state_dtype == DType::f32 || assignment.state_dtype == DType::bf16;
  if (assignment.format > WeightFormat::stored || !std::ranges::any_of(kKvTypes, is_kv_type) || !is_state_type)
    return bad_frame("types of an assignment");
  PAGODA_RETURN_IF_ERROR(check_sizes(assignment.sizes));
  return assignment;
}

Bytes encode_failure(const Status& status) {
  FrameWriter writer(Kind::failed);
  writer.put(status.code);
  writer.put_text(status.message);
  return writer.take();
}

Status decode_failure(std::span<const std::byte> frame) {
  FrameReader reader = body_of(frame);
  const auto code = reader.get<StatusCode>();
  std::string message = reader.get_text();
  if (!reader.is_done() || code <= StatusCode::ok || code > StatusCode::internal) return bad_frame("failure");
  return make_error(code, std::move(message));
}

Bytes encode_plan(const model::ForwardBatch& batch, std::span<const int32_t> returned_rows, bool returns_all,
                  const EngineLimits& sizes) {
  FrameWriter writer(Kind::plan);
  writer.put_array<int32_t>(batch.token_ids);
  writer.put_array<int32_t>(batch.positions);
  writer.put_array<int64_t>(batch.slot_mapping);
  writer.put_array<int32_t>(batch.cu_seqlens);
  writer.put_array<int32_t>(batch.context_lens);
  for (size_t b = 0; b < batch.context_lens.size(); ++b)
    writer.put_array<int32_t>(std::span(batch.block_tables)
                                  .subspan(b * static_cast<size_t>(sizes.max_blocks_per_seq),
                                           static_cast<size_t>(num_used(batch, b, sizes))));
  writer.put_array<int32_t>(batch.state_slots);
  writer.put_array<int32_t>(batch.fresh_slots);
  writer.put_array<model::Copy>(batch.block_copies);
  writer.put_array<model::Copy>(batch.slot_copies);
  writer.put_array<model::StateSave>(batch.state_saves);
  writer.put(static_cast<uint8_t>(returns_all));
  writer.put_array(returned_rows);
  return writer.take();
}

Status decode_plan(std::span<const std::byte> frame, const EngineLimits& sizes, StagePlan& plan) {
  FrameReader reader = body_of(frame);
  model::ForwardBatch& batch = plan.batch;
  reader.get_array(batch.token_ids);
  reader.get_array(batch.positions);
  reader.get_array(batch.slot_mapping);
  reader.get_array(batch.cu_seqlens);
  reader.get_array(batch.context_lens);
  const size_t num_seqs = batch.context_lens.size(), width = static_cast<size_t>(sizes.max_blocks_per_seq);
  if (!reader.is_ok() || num_seqs > static_cast<size_t>(sizes.max_num_seqs)) return bad_frame("sequences of a step");
  batch.block_tables.assign(num_seqs * width, 0);
  std::vector<int32_t> table;
  for (size_t b = 0; b < num_seqs; ++b) {
    reader.get_array(table);
    if (table.size() > width) return bad_frame("block table");
    std::ranges::copy(table, batch.block_tables.begin() + static_cast<std::ptrdiff_t>(b * width));
  }
  reader.get_array(batch.state_slots);
  reader.get_array(batch.fresh_slots);
  reader.get_array(batch.block_copies);
  reader.get_array(batch.slot_copies);
  reader.get_array(batch.state_saves);
  plan.returns_all = reader.get<uint8_t>() != 0;
  reader.get_array(plan.returned_rows);
  if (kind_of(frame) != Kind::plan || !reader.is_done()) return bad_frame("step");
  for (const int32_t row : plan.returned_rows)
    if (row < 0 || row >= batch.num_tokens()) return bad_frame("rows to give back");
  return ok_status();
}

Bytes encode_rows(std::span<const float> rows) {
  FrameWriter writer(Kind::rows);
  writer.put_array(rows);
  return writer.take();
}

Status decode_rows(std::span<const std::byte> frame, std::vector<float>& rows) {
  FrameReader reader = body_of(frame);
  reader.get_array(rows);
  return kind_of(frame) == Kind::rows && reader.is_done() ? ok_status() : bad_frame("rows");
}

}  // namespace pagoda::pipeline
