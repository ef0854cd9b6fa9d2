// FakeCuda: a fake driver and compiler that log their calls, so that the CUDA backend can be tested on any machine
// without a GPU. Its memory is the host's; a launch writes nothing.
#pragma once

#include <string>
#include <vector>

#include "device/gpu/cuda/driver.h"

namespace pagoda::test {

struct FakeCuda {
  std::vector<std::string> diary;  // calls that matter, in order
  bool keeps_diary = true;         // logging allocates memory
  std::string fail_call;           // the call of this name fails from now on
  int fail_result = 700;           // illegal address
  size_t free_bytes = 1000;        // of 1000
  int num_gpus = 1, major = 9, nvrtc_major = 13;
  int live_buffers = 0, live_modules = 0, live_graphs = 0, live_streams = 0, live_contexts = 0;
};

FakeCuda& fake_cuda();  // the instance that the tables below write to
device::gpu::cuda::Driver fake_driver();
device::gpu::cuda::Nvrtc fake_nvrtc();

}  // namespace pagoda::test
