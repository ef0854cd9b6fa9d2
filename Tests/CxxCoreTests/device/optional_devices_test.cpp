// Devices that are available because a file that registers them is linked, as in these tests.
#include "device/optional_devices.h"

#include <algorithm>
#include <string>

#include "device/registry.h"
#include "support/test.h"

extern "C" void pagoda_add_software_device() noexcept;

namespace pagoda::test {

PAGODA_TEST(device_optional_ones_are_linked_into_the_tests_once) {
  pagoda_add_software_device();  // as if two products had added it
  std::string names;
  for (const device::OptionalDevice* device : device::optional_devices()) names += std::string(device->name) + " ";
  CHECK_EQ(names, "cuda dry dry:overlap software ");
  const auto known = device::device_names();
  CHECK_EQ(std::count(known.begin(), known.end(), "software"), 1);
  CHECK_EQ(std::count(known.begin(), known.end(), "dry"), 0);  // it computes nothing
}

PAGODA_TEST(device_a_name_that_is_none_is_refused_with_those_that_are) {
  const auto made = device::make_device("quantum", 1);
  CHECK(made.status.code == StatusCode::invalid_argument);
  CHECK(made.status.message.find("software, reference") != std::string::npos);
}

}  // namespace pagoda::test
