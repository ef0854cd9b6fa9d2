// Pipeline plan: handshake, split, then as many KV blocks as fit the stage with the least memory.
#include "engine/load/pipeline_plan.h"

#include <algorithm>
#include <utility>

#include "base/assign_or_return.h"
#include "base/concat.h"
#include "pipeline/addresses.h"

namespace pagoda::engine {
namespace {

constexpr int kPatienceMs = 60'000;   // for stages that start later than this rank
constexpr double kWeightShare = 0.8;  // share of a stage's memory; the rest is for caches

struct Part {
  io::ModelConfig config;
  cache::CacheLayout layout;
  int64_t weights_bytes = 0, limit_bytes = 0;
};

// Stages differ: their free memory is not counted on by default.
int32_t num_sequences_of(const EngineOptions& options) {
  return options.max_num_seqs > 0 ? options.max_num_seqs : kFewSequences;
}

Result<std::vector<int32_t>> choose_ends(const PipelineInput& input, const std::vector<pipeline::StageLimits>& limits) {
  if (!input.options.pipeline_split.empty())
    return pipeline::parse_split(input.options.pipeline_split, input.config.num_layers, limits.size());
  const int32_t num_stages = static_cast<int32_t>(limits.size());  // also the number of steps in flight
  const int32_t num_sequences = (num_sequences_of(input.options) + num_stages - 1) / num_stages;
  return pipeline::split_layers(layer_costs(input.config, input.weights, num_sequences, input.cache_types.state),
                                limits);
}

Result<std::vector<Part>> make_parts(const PipelineInput& input, const std::vector<int32_t>& ends,
                                     const std::vector<pipeline::StageLimits>& limits) {
  std::vector<Part> parts;
  for (size_t i = 0; i < ends.size(); ++i) {
    Part part;
    part.config = input.config;
    part.config.first_layer = i == 0 ? 0 : ends[i - 1];
    part.config.end_layer = ends[i];
    PAGODA_ASSIGN_OR_RETURN(auto weights,
                            model::check_weights(part.config, input.checkpoint, input.device, input.format));
    part.layout = model::cache_layout(part.config, input.cache_types, input.options.block_size);
    part.weights_bytes = weights.size_bytes;
    part.limit_bytes = limits[i].memory_bytes;
    parts.push_back(std::move(part));
  }
  return parts;
}

// Memory of a part after weights, workspace and states, in blocks of its own layers.
int64_t blocks_that_fit(const Part& part, const MemoryPlan& memory, const device::Device& device) {
  const int64_t block_bytes = part.layout.kv_block_bytes();
  if (block_bytes == 0) return memory.limits.num_kv_blocks;
  const int64_t states = memory.limits.num_state_slots * part.layout.state_slot_bytes();
  const int64_t left =
      part.limit_bytes - part.weights_bytes - states - model::workspace_bytes(part.config, device, memory.limits);
  return left / block_bytes;
}

std::string describe(const std::vector<Part>& parts, const std::vector<pipeline::StageAddress>& stages) {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += "; ";
    text += concat("layers ", parts[i].config.first_layer, " to ", parts[i].config.end_layer - 1, " at ",
                   i == 0 ? "this rank" : stages[i - 1].name, ", ", parts[i].weights_bytes >> 20, " MiB of weights");
  }
  return text;
}

// Plans blocks for the whole model within the total memory, then reduces them if they do not fit a stage.
Result<MemoryPlan> plan_stages(const PipelineInput& input, const std::vector<Part>& parts) {
  EngineOptions options = input.options;
  options.speculation = "off";
  options.max_num_seqs = num_sequences_of(options);
  const cache::CacheLayout layout = model::cache_layout(input.config, input.cache_types, options.block_size);
  int64_t weights = 0, limit = 0;
  for (const Part& part : parts) weights += part.weights_bytes, limit += part.limit_bytes;
  Result<MemoryPlan> memory = plan_memory(options, input.config, layout, input.device, weights, limit);
  if (!memory.is_ok()) return memory;
  int64_t most = memory->limits.num_kv_blocks;
  for (const Part& part : parts) most = std::min(most, blocks_that_fit(part, *memory, input.device));
  if (most == memory->limits.num_kv_blocks) return memory;
  const bool is_asked = options.num_kv_blocks > 0 || options.kv_cache_bytes > 0;
  if (most < 1 || is_asked)
    return make_error(StatusCode::out_of_memory,
                      concat("a stage has space for ", std::max<int64_t>(most, 0), " KV blocks of its layers; ",
                             memory->limits.num_kv_blocks, " were planned"));
  options.num_kv_blocks = most;
  return plan_memory(options, input.config, layout, input.device, weights, limit);
}

}  // namespace

pipeline::LayerCosts layer_costs(const io::ModelConfig& config, const model::WeightsSummary& weights,
                                 int32_t num_sequences, DType state_dtype) {
  pipeline::LayerCosts costs{.read_bytes = weights.layer_read_bytes,
                             .bytes = weights.layer_bytes,
                             .head_bytes = weights.size_bytes,
                             .head_read_bytes = weights.head_matrix.size_bytes};
  io::ModelConfig layer = config;
  for (size_t i = 0; i < costs.bytes.size(); ++i) {
    costs.head_bytes -= costs.bytes[i];
    layer.first_layer = static_cast<int32_t>(i);
    layer.end_layer = layer.first_layer + 1;
    costs.read_bytes[i] +=
        num_sequences * model::cache_layout(layer, {DType::f32, state_dtype}, 16).recurrent_slot_bytes();
  }
  return costs;
}

Result<PipelinePlan> plan_pipeline(const PipelineInput& input) {
  PipelinePlan plan;
  pipeline::PipelineParts& parts = plan.parts;
  parts.timeout_ms = input.options.pipeline_timeout_ms;
  parts.hidden_size = input.config.hidden_size;
  PAGODA_ASSIGN_OR_RETURN(parts.stages,
                          pipeline::find_stages(input.options.pipeline, input.options.pipeline_timeout_ms));
  PAGODA_ASSIGN_OR_RETURN(double speed, pipeline::measure_speed(input.device_name, input.options.num_threads));
  parts.hello = {.model = pipeline::model_identity(input.config_json, input.checkpoint),
                 .model_name = input.name,
                 .memory_bytes = input.device.info().memory_limit_bytes,
                 .speed = speed};
  const auto limits_of = [](const pipeline::Hello& hello) {
    return pipeline::StageLimits{hello.speed,
                                 static_cast<int64_t>(kWeightShare * static_cast<double>(hello.memory_bytes))};
  };
  std::vector<pipeline::StageLimits> limits{limits_of(parts.hello)};
  for (const pipeline::StageAddress& stage : parts.stages) {
    PAGODA_ASSIGN_OR_RETURN(pipeline::StageConnection greeted,
                            pipeline::greet(stage, parts.hello, parts.timeout_ms, kPatienceMs));
    limits.push_back(limits_of(greeted.hello));
    plan.connections.push_back(std::move(greeted));
  }
  PAGODA_ASSIGN_OR_RETURN(std::vector<int32_t> ends, choose_ends(input, limits));
  for (size_t i = 0; i < limits.size(); ++i)
    limits[i].memory_bytes = i == 0 ? parts.hello.memory_bytes : plan.connections[i - 1].hello.memory_bytes;
  PAGODA_ASSIGN_OR_RETURN(std::vector<Part> made, make_parts(input, ends, limits));
  PAGODA_ASSIGN_OR_RETURN(plan.memory, plan_stages(input, made));
  plan.first = made.front().config;
  plan.text = describe(made, parts.stages);
  for (size_t i = 1; i < made.size(); ++i) {
    pipeline::Assignment assignment{.first_layer = made[i].config.first_layer,
                                    .end_layer = made[i].config.end_layer,
                                    .format = input.format,
                                    .kv_dtype = input.cache_types.kv,
                                    .state_dtype = input.cache_types.state,
                                    .rope_scaling = input.options.rope_scaling,
                                    .sizes = plan.memory.limits};
    assignment.sizes.max_logits_rows = 1;  // the first stage computes them
    parts.assignments.push_back(std::move(assignment));
  }
  return plan;
}

}  // namespace pagoda::engine
