// loader: what a load reports while it runs and afterwards.
#include "engine/load/load_options.h"

namespace pagoda::engine {

// The bytes grow to those of all matrices, and what is known afterwards is what was planned.
PAGODA_TEST(engine_load_reports_bytes_and_seconds) {
  for (const char* device : {"cpu", "software"}) {
    for (const char* quantize : {"none", "8bit", "4bit"}) {
      test::note(std::string(device) + ", " + quantize);
      EngineOptions options = test::cpu_options();
      options.device = device;
      options.quantize = quantize;
      options.max_model_len = 64;
      const auto planned = inspect(test::mini(), options);
      REQUIRE_OK(planned);
      int64_t matrix_bytes = 0, done = 0;
      for (const FormatSum& one : planned->formats) matrix_bytes += one.sum.size_bytes;
      const auto loaded = load(test::mini(), options, [&](int64_t num_bytes, int64_t total_bytes) {
        CHECK(num_bytes >= done);
        CHECK_EQ(total_bytes, matrix_bytes);
        done = num_bytes;
        return true;
      });
      REQUIRE_OK(loaded);
      CHECK_EQ(done, matrix_bytes);
      CHECK_EQ(planned->loaded_bytes, int64_t{0});
      CHECK_EQ(planned->load_seconds, 0.0);
      CHECK_EQ(loaded->info.loaded_bytes, planned->plan.weights_bytes);
      CHECK(loaded->info.load_seconds > 0);
    }
  }
}

}  // namespace pagoda::engine
