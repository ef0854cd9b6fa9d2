// Adds the CUDA device to the program that this file is linked into.
#include "include/pagoda_cuda.h"

namespace {

[[maybe_unused]] const bool is_added = (pagoda_add_cuda_device(), true);

}  // namespace
