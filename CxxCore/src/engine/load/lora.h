// Loads LoRA adapters: the memory that those of the options need, and each of them into a model.
#pragma once

#include <functional>

#include "base/result.h"
#include "engine/adapters.h"
#include "model/model.h"
#include "pagoda/options.h"

namespace pagoda::engine {

// Bytes for the adapters of the options: EngineOptions::lora_bytes, or if that is 0 their exact size. Reads only
// headers; fails if one of them does not fit the model.
Result<int64_t> adapter_bytes(const EngineOptions& options, const model::AdapterLayout& layout);

// Reads an adapter on the calling thread, and has `place` write it between two steps.
Status load_adapter(const LoraSource& source, const model::AdapterLayout& layout, Adapters& adapters,
                    const std::function<Status(const Adapter&, const model::AdapterImage&)>& place);

}  // namespace pagoda::engine
