// Memory is reserved from the headers before any number is read.
#include "engine/load/lora.h"

#include <utility>

#include "base/assign_or_return.h"
#include "io/lora/lora_file.h"

namespace pagoda::engine {

Result<int64_t> adapter_bytes(const EngineOptions& options, const model::AdapterLayout& layout) {
  int64_t count = 0;
  for (const LoraSource& source : options.loras) {
    PAGODA_RETURN_IF_ERROR(check_adapter_name(source.name));
    PAGODA_ASSIGN_OR_RETURN(const io::LoraFile file, io::LoraFile::open(source.folder));
    PAGODA_ASSIGN_OR_RETURN(const int64_t size, model::image_size(layout, file));
    count += size;
  }
  return options.lora_bytes > 0 ? options.lora_bytes : count * static_cast<int64_t>(sizeof(float));
}

Status load_adapter(const LoraSource& source, const model::AdapterLayout& layout, Adapters& adapters,
                    const std::function<Status(const Adapter&, const model::AdapterImage&)>& place) {
  PAGODA_RETURN_IF_ERROR(check_adapter_name(source.name));
  PAGODA_ASSIGN_OR_RETURN(const io::LoraFile file, io::LoraFile::open(source.folder));
  PAGODA_ASSIGN_OR_RETURN(const int64_t size, model::image_size(layout, file));
  PAGODA_ASSIGN_OR_RETURN(std::shared_ptr<Adapter> adapter, adapters.reserve(source.name, source.folder, size));
  PAGODA_ASSIGN_OR_RETURN(const model::AdapterImage image, model::make_image(layout, file));
  adapter->identity = image.identity.text();
  PAGODA_RETURN_IF_ERROR(place(*adapter, image));
  return adapters.publish(std::move(adapter));
}

}  // namespace pagoda::engine
