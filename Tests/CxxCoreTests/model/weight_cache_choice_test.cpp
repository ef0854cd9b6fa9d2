// weight cache: which loads use it by default, and what a cancelled load leaves behind.
#include "base/cache_folder.h"
#include "engine/load/weight_facts.h"
#include "model/weight_cache_runner.h"

namespace pagoda::test {
namespace {

model::WeightCache automatic(const std::string& folder, int64_t min_bytes) {
  return {.folder = folder, .is_automatic = true, .min_bytes = min_bytes, .note = {}};
}

std::string planned_note(const ModelSource& source, const model::WeightCache& cache, WeightFormat format) {
  const auto opened = open_model(source);
  const auto device = device::make_device("cpu", 1);
  CHECK_OK(opened);
  CHECK_OK(device);
  if (!opened.is_ok() || !device.is_ok()) return "";
  const auto note = model::weight_cache_note(opened->config, *opened->checkpoint, **device, format, cache);
  CHECK_OK(note);
  return note.is_ok() ? *note : "";
}

}  // namespace

PAGODA_TEST(weight_cache_is_used_by_itself_where_matrices_are_repacked) {
  for (const WeightFormat format :
       {WeightFormat::f32, WeightFormat::f16, WeightFormat::bf16, WeightFormat::q8, WeightFormat::q4}) {
    note(std::string(weight_format_name(format)));
    const std::string folder = temporary_dir() + "/cache";
    const model::WeightCache cache = automatic(folder, 1);
    const std::string before = planned_note(fixture(), cache, format);
    const auto first = run_cached({.source = fixture(), .cache = cache, .format = format});
    REQUIRE_OK(first);
    const std::string between = planned_note(fixture(), cache, format);
    const auto second = run_cached({.source = fixture(), .cache = cache, .format = format});
    REQUIRE_OK(second);
    CHECK(same_bits(first->logits, second->logits));
    if (is_quantised(format) || format == WeightFormat::bf16) {
      CHECK(first->was_written() && second->was_cached());
      CHECK(before.find("the next load writes") == 0 && between.find("matrices are in " + folder) == 0);
    } else {
      CHECK(first->num_adopted == 0 && second->num_adopted == 0);
      CHECK(first->note.empty() && second->note.empty() && before.empty() && between.empty());
      CHECK(!std::filesystem::exists(folder));
    }
  }
}

PAGODA_TEST(weight_cache_leaves_small_models_alone) {
  const std::string folder = temporary_dir();
  const auto info = [&](int64_t min_bytes) {
    const auto load = run_cached({.source = fixture(), .cache = automatic(folder, min_bytes)});
    CHECK_OK(load);
    return load.is_ok() ? *load : Load{};
  };
  CHECK(info(int64_t{1} << 30).note.empty());
  CHECK(model::WeightCache{}.min_bytes > (int64_t{1} << 20));
  CHECK(info(model::WeightCache{}.min_bytes).note.empty());
  CHECK(files_in(folder).empty());
  CHECK(info(1 << 10).was_written());
}

// Where nothing can be written, a load without a chosen folder succeeds too, and says why it is not cached.
PAGODA_TEST(weight_cache_by_itself_never_fails_a_load) {
  const auto load = run_cached({.source = fixture(), .cache = automatic("/proc/none", 1)});
  REQUIRE_OK(load);
  CHECK(load->num_made > 0 && load->num_adopted == 0);
  CHECK(load->note.find("not cached") != std::string::npos);
  model::WeightCache full = automatic(temporary_dir(), 1);
  full.max_bytes = 1000;  // or a quarter of the disk's free space
  const std::string planned = planned_note(fixture(), full, WeightFormat::q8);
  CHECK(planned.find("not cached") != std::string::npos && planned.find("more than the 1000") != std::string::npos);
  const auto refused = run_cached({.source = fixture(), .cache = full});
  REQUIRE_OK(refused);
  CHECK_EQ(refused->note, planned);
}

PAGODA_TEST(weight_cache_folder_follows_the_options) {
  const ModelSource on_disk = fixture(), shape{.directory = "", .files = {}, .shape = "tiny"};
  EngineOptions options;
  CHECK_EQ(engine::weight_cache_of(on_disk, options).folder, user_cache_folder("weights"));
  CHECK(engine::weight_cache_of(on_disk, options).is_automatic);
  CHECK_EQ(engine::weight_cache_of(on_disk, options).max_bytes, int64_t{64} << 30);
  CHECK_EQ(engine::weight_cache_of(shape, options).folder, std::string());  // random weights, for measurements
  options.weight_cache = "/some/folder";
  options.weight_cache_disk_bytes = 5;
  for (const ModelSource& source : {on_disk, shape}) {
    CHECK_EQ(engine::weight_cache_of(source, options).folder, options.weight_cache);
    CHECK(!engine::weight_cache_of(source, options).is_automatic);
    CHECK_EQ(engine::weight_cache_of(source, options).max_bytes, int64_t{5});
  }
  options.keep_weights = false;
  CHECK_EQ(engine::weight_cache_of(on_disk, options).folder, std::string());
}

// A load that is cancelled while its file is written leaves nothing there; one that is cancelled while it reads the
// file does not begin to read the checkpoint.
PAGODA_TEST(weight_cache_ends_when_the_load_is_cancelled) {
  const std::string folder = temporary_dir();
  const auto load = [&](int64_t num_more) {
    CachedLoad options{.source = fixture(), .cache = {.folder = folder, .note = {}}};
    options.progress = [&](int64_t num_bytes, int64_t total_bytes) {
      return num_bytes < total_bytes || num_more-- > 0;
    };
    return run_cached(options).status;
  };
  CHECK(load(1).code == StatusCode::cancelled);  // the first report of the total is that of the last matrix
  CHECK(files_in(folder).empty());
  CHECK_OK(load(1000));
  CHECK_EQ(files_in(folder).size(), size_t{1});
  CHECK(load(0).code == StatusCode::cancelled);
  CHECK_EQ(files_in(folder).size(), size_t{1});
}

}  // namespace pagoda::test
