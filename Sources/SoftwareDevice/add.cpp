// Adds the software device to the program that this file is linked into.
#include "include/pagoda_software.h"

namespace {

[[maybe_unused]] const bool is_added = (pagoda_add_software_device(), true);

}  // namespace
