// Names to devices.
#include "device/registry.h"

#include "device/reference/reference_device.h"

namespace pagoda::device {

std::vector<std::string> device_names() { return {"reference"}; }

Result<std::unique_ptr<Device>> make_device(const std::string& name, int) {
  if (name == "reference") return reference::make_reference_device();
  std::string known = "auto";
  for (const std::string& other : device_names()) known += ", " + other;
  return make_error(StatusCode::invalid_argument, "no device named '" + name + "' on this machine; known are " + known);
}

}  // namespace pagoda::device
