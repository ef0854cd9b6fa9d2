// Range checks of the values in index tensors, for devices whose index tensors the host can read. Shapes are checked
// elsewhere. An index out of range would access foreign memory, so the op is skipped and the step fails.
#pragma once

#include "base/result.h"
#include "device/op_list.h"

namespace pagoda::device::host {

Status check_indices(OpRef op) noexcept;

}  // namespace pagoda::device::host
