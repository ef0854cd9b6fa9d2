// What tests of loading load, and with which options: the embedded model on one thread of the CPU.
#pragma once

#include "engine/load/loader.h"
#include "support/test.h"

namespace pagoda::test {

inline ModelSource mini() { return {mini_model_dir(), {}}; }

inline EngineOptions cpu_options() {
  EngineOptions options;
  options.device = "cpu";
  options.num_threads = 1;
  return options;
}

}  // namespace pagoda::test
