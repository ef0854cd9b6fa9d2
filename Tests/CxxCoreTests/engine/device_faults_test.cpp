// DeviceFaults: one failed step is a fault of its requests, several in a row are one of the engine.
#include "engine/core/device_faults.h"

#include <string>

#include "support/test.h"

namespace pagoda::engine {
namespace {

const Status kFailure{StatusCode::device_error, "lost"};

PAGODA_TEST(device_faults_count_consecutive_failures_of_the_device) {
  DeviceFaults faults(nullptr);
  for (const Status& status : {kFailure, kFailure, ok_status(), kFailure, kFailure}) {
    faults.note(status);
    CHECK_EQ(faults.text(), "");
  }
  faults.note(kFailure);
  CHECK_EQ(faults.text(), "lost");
  CHECK(!faults.is_dead());  // a later step may succeed
  faults.note(ok_status());
  CHECK_EQ(faults.text(), "");
}

PAGODA_TEST(device_faults_ignore_failures_that_are_not_the_devices) {
  DeviceFaults faults(nullptr);
  for (int i = 0; i < 5; ++i) faults.note({StatusCode::out_of_memory, "out of memory"});
  CHECK_EQ(faults.text(), "");
  CHECK(faults.fault().is_ok());
}

}  // namespace
}  // namespace pagoda::engine
