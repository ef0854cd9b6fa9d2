// Loads a model's weights onto a device that can run its ops.
#include <utility>

#include "base/assign_or_return.h"
#include "device/op_list.h"
#include "model/decoder.h"

namespace pagoda::model {

int64_t workspace_bytes(const io::ModelConfig& config, const device::Device& device,
                        const EngineLimits& sizes) noexcept {
  return Workspace::size_bytes(config, sizes) +
         static_cast<int64_t>(device.reserve_bytes(Workspace::step_limits(config, sizes)));
}

Result<AdapterLayout> adapter_layout(const io::ModelConfig& config, const io::Checkpoint& checkpoint) {
  PAGODA_ASSIGN_OR_RETURN(const auto groups, group_weights(config, checkpoint));
  return AdapterLayout(config, groups);
}

Result<std::unique_ptr<Model>> load_model(const io::ModelConfig& config, const io::Checkpoint& checkpoint,
                                          device::Device& device, WeightFormat format, DType kv_dtype,
                                          int32_t block_size, const LoadProgress& progress, WeightCache* cache,
                                          int64_t expert_memory_bytes) {
  if (block_size <= 0) return make_error(StatusCode::invalid_argument, "block_size must be positive");
  const device::Encoder& encoder = device.encoder();
  if (config.has_streams() && !(encoder.can(device::MixStreamsArgs{}) && encoder.can(device::NgramEmbeddingArgs{}) &&
                                encoder.can(device::BlockAttentionArgs{})))
    return make_error(StatusCode::unsupported, config.architecture +
                                                   " has hyper-connections and sparse attention, which the device " +
                                                   device.info().name + " cannot run; cpu can");
  if (config.has_streams() && config.is_part())
    return make_error(StatusCode::unsupported,
                      config.architecture + " has hyper-connections, whose streams are not sent between machines");
  PAGODA_ASSIGN_OR_RETURN(auto weights,
                          Weights::load(config, checkpoint, device, format, progress, cache, expert_memory_bytes));
  PAGODA_ASSIGN_OR_RETURN(AdapterLayout adapters, adapter_layout(config, checkpoint));
  return std::unique_ptr<Model>(std::make_unique<Decoder>(config, cache_layout(config, kv_dtype, block_size), device,
                                                          std::move(weights), std::move(adapters)));
}

}  // namespace pagoda::model
