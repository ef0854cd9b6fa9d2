// weight cache: the second load reads the matrices from the file, bit for bit, and no error in the file or its folder
// prevents a model from loading.
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "model/checkpoint_editor.h"
#include "model/weight_cache_runner.h"

namespace pagoda::test {
namespace {

namespace fs = std::filesystem;

Result<Load> run(const ModelSource& source, const std::string& cache_folder, WeightFormat format = WeightFormat::q8,
                 const std::string& layout_suffix = "", int64_t max_bytes = 0) {
  model::WeightCache cache{.folder = cache_folder, .note = {}};
  if (max_bytes > 0) cache.max_bytes = max_bytes;
  return run_cached({.source = source, .cache = cache, .format = format, .layout_suffix = layout_suffix});
}

void write_file(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

}  // namespace

PAGODA_TEST(weight_cache_second_load_reads_no_matrix_and_gives_the_same_bits) {
  const std::string cache = temporary_dir() + "/made/on/the/way";
  const std::vector<WeightFormat> formats{WeightFormat::f32, WeightFormat::f16, WeightFormat::bf16, WeightFormat::q8,
                                          WeightFormat::q4};
  for (WeightFormat format : formats) {
    note(std::string(weight_format_name(format)));
    auto plain = run(fixture(), "", format), first = run(fixture(), cache, format),
         second = run(fixture(), cache, format);
    REQUIRE_OK(plain);
    REQUIRE_OK(first);
    REQUIRE_OK(second);
    CHECK_EQ(plain->note, "");
    CHECK(first->was_written());
    CHECK(second->was_cached());
    CHECK(second->note.find("read from " + cache) != std::string::npos);
    CHECK_EQ(second->num_adopted, plain->num_made);
    CHECK(same_bits(plain->logits, first->logits));
    CHECK(same_bits(plain->logits, second->logits));
  }
  CHECK_EQ(files_in(cache).size(), formats.size());  // one per format, and nothing temporary
}

PAGODA_TEST(weight_cache_works_for_files_in_memory_and_for_shapes) {
  const std::string cache = temporary_dir();
  CheckpointEditor editor(fixtures_dir() + "/model/qwen3_5");
  for (const ModelSource& source : {editor.write(), ModelSource{.directory = "", .files = {}, .shape = "tiny"}}) {
    auto first = run(source, cache), second = run(source, cache);
    REQUIRE_OK(first);
    REQUIRE_OK(second);
    CHECK(first->was_written() && second->was_cached());
    CHECK(same_bits(first->logits, second->logits));
  }
}

PAGODA_TEST(weight_cache_misses_when_the_model_changes) {
  const std::string cache = temporary_dir(), copy = temporary_dir() + "/model";
  fs::copy(fixtures_dir() + "/model/qwen3_5", copy, fs::copy_options::recursive);
  auto first = run(folder(copy), cache);
  REQUIRE_OK(first);
  CHECK(first->was_written());

  // Another timestamp with the same bytes; then other bytes with the same timestamp.
  const std::string weights = copy + "/model.safetensors";
  const auto later = fs::last_write_time(weights) + std::chrono::seconds(1);
  fs::last_write_time(weights, later);
  auto touched = run(folder(copy), cache);
  REQUIRE_OK(touched);
  CHECK(touched->was_written());
  std::string bytes = read_file(weights);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  write_file(weights, bytes);
  fs::last_write_time(weights, later);
  auto edited = run(folder(copy), cache);
  REQUIRE_OK(edited);
  CHECK(edited->was_written());

  // In memory there is no modification time to compare.
  CheckpointEditor editor(fixtures_dir() + "/model/qwen3_5");
  for (int i = 0; i < 2; ++i) {
    editor.tensors.begin()->second.bytes[1] ^= std::byte{1};
    auto in_memory = run(editor.write(), cache);
    REQUIRE_OK(in_memory);
    CHECK(in_memory->was_written());
  }
  CHECK_EQ(files_in(cache).size(), size_t{5});
}

PAGODA_TEST(weight_cache_keeps_layouts_apart) {
  const std::string cache = temporary_dir();
  for (const char* layout : {"", " two"}) {
    auto load = run(fixture(), cache, WeightFormat::q8, layout);
    REQUIRE_OK(load);
    CHECK(load->was_written());
  }
  auto again = run(fixture(), cache, WeightFormat::q8, " two");
  REQUIRE_OK(again);
  CHECK(again->was_cached());
}

PAGODA_TEST(weight_cache_ignores_damaged_files_and_writes_them_again) {
  const std::string cache = temporary_dir();
  auto first = run(fixture(), cache);
  REQUIRE_OK(first);
  REQUIRE(files_in(cache).size() == 1);
  const std::string path = files_in(cache).front(), good = read_file(path);
  std::mt19937_64 random(seed(11));
  const size_t random_offset = random();
  const auto flipped = [&](size_t at) {
    std::string bytes = good;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x40);
    return bytes;
  };
  // Fields of 8 bytes after a magic of 16: identity, count, size; then offset, size, rows, cols of each matrix.
  constexpr size_t kPage = 16384;  // of the file
  const std::vector<std::pair<const char*, std::string>> rows{
      {"empty", ""},
      {"one byte", "p"},
      {"cut in the head", good.substr(0, 40)},
      {"cut by a byte", good.substr(0, good.size() - 1)},
      {"longer by a byte", good + "x"},
      {"zeros", std::string(good.size(), '\0')},
      {"magic", flipped(0)},
      {"identity", flipped(16)},
      {"count", flipped(24)},
      {"size", flipped(32)},
      {"offset of a matrix", flipped(47)},
      {"size of a matrix", flipped(48)},
      {"rows of a matrix", flipped(56)},
      {"cols of a matrix", flipped(64)},
      {"first byte of the first matrix", flipped(kPage)},
      {"somewhere in the first matrix", flipped(kPage + random_offset % 64)},
      {"two pages changed places",
       good.substr(0, kPage) + good.substr(2 * kPage, kPage) + good.substr(kPage, kPage) + good.substr(3 * kPage)},
      {"a checksum", flipped(good.size() - kPage)},
  };
  for (const auto& [name, bytes] : rows) {
    note(name);
    write_file(path, bytes);
    auto load = run(fixture(), cache);
    REQUIRE_OK(load);
    CHECK(load->was_written());
    CHECK(same_bits(first->logits, load->logits));
    CHECK(read_file(path) == good);
  }
}

PAGODA_TEST(weight_cache_keeps_the_most_recently_used_files) {
  const std::string cache = temporary_dir();
  const auto age = [](const std::string& path, int hours) {
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(hours));
  };
  const auto load = [&](const char* layout, int64_t max_bytes) {
    auto loaded = run(fixture(), cache, WeightFormat::q8, layout, max_bytes);
    CHECK_OK(loaded);
    return loaded.is_ok() ? *loaded : Load{};
  };
  CHECK(load(" one", 0).was_written());
  const std::string one = files_in(cache).front();
  const auto size = static_cast<int64_t>(fs::file_size(one));
  age(one, 3);
  CHECK(load(" two", 2 * size).was_written());
  for (const std::string& path : files_in(cache))
    if (path != one) age(path, 2);
  CHECK(load(" one", 2 * size).was_cached());  // and was used after " two"
  const auto other = cache + "/notes.txt", old = cache + "/0123456789abcdef.pagoda-weights";
  write_file(other, std::string(static_cast<size_t>(size), 'x'));
  write_file(old, "pagoda weights 1" + std::string(static_cast<size_t>(size), 'x'));
  CHECK(load(" three", 2 * size).was_written());
  CHECK(fs::exists(other) && !fs::exists(old));  // not ours; an older format
  CHECK(load(" one", 2 * size).was_cached() && load(" three", 2 * size).was_cached());
  CHECK(load(" two", 2 * size - 1).was_written());  // it was removed; now there is space for one
  CHECK(load(" two", 2 * size - 1).was_cached());
  CHECK_EQ(files_in(cache).size(), size_t{2});
  CHECK(load(" four", size - 1).note.find("more than the " + std::to_string(size - 1)) != std::string::npos);
  CHECK(load(" two", 2 * size - 1).was_cached());
}

PAGODA_TEST(weight_cache_loads_where_it_cannot_keep_anything) {
  const std::string blocked = temporary_dir() + "/file";
  write_file(blocked, "not a folder");
  // A folder under the name of the file, so that everything works up to the renaming.
  const std::string taken = temporary_dir();
  REQUIRE_OK(run(fixture(), taken));
  REQUIRE(files_in(taken).size() == 1);
  const std::string path = files_in(taken).front();
  fs::remove(path);
  fs::create_directory(path);
  // A folder under the temporary name.
  const std::string held = temporary_dir();
  fs::create_directory(held + "/" + fs::path(path).filename().string() + ".tmp");
  for (const std::string& cache :
       {blocked, blocked + "/below", taken, held, std::string("/proc/none"), std::string("a\0b", 3)}) {
    note(cache);
    auto load = run(fixture(), cache);
    REQUIRE_OK(load);
    CHECK(load->num_made > 0 && load->num_adopted == 0);
    CHECK(load->note.find("not cached") != std::string::npos);
  }
  CHECK_EQ(files_in(taken).size(), size_t{1});  // no temporary file is left

  auto opened = open_model(fixture());
  REQUIRE_OK(opened);
  auto reference = device::make_device("reference", 1);
  REQUIRE_OK(reference);
  model::WeightCache cache{.folder = temporary_dir(), .note = {}};
  CHECK_OK(model::load_model(opened->config, *opened->checkpoint, **reference, WeightFormat::f32, DType::f32, 8,
                             nullptr, &cache));
  CHECK(cache.note.find("not cached") != std::string::npos && files_in(cache.folder).empty());
}

PAGODA_TEST(weight_cache_takes_over_the_file_of_a_killed_writer) {
  const std::string cache = temporary_dir();
  REQUIRE_OK(run(fixture(), cache));
  REQUIRE(files_in(cache).size() == 1);
  const std::string path = files_in(cache).front(), good = read_file(path);
  fs::remove(path);
  write_file(path + ".tmp", good + good);
  auto load = run(fixture(), cache);
  REQUIRE_OK(load);
  CHECK(load->was_written());
  CHECK(read_file(path) == good);
  CHECK_EQ(files_in(cache).size(), size_t{1});
}

PAGODA_TEST(weight_cache_serves_loads_at_once) {
  auto plain = run(fixture(), "");
  REQUIRE_OK(plain);
  for (int round = 0; round < 4; ++round) {
    const std::string cache = temporary_dir();
    std::vector<Result<Load>> loads(4, Result<Load>(ok_status()));
    std::vector<std::thread> threads;
    for (auto& load : loads) threads.emplace_back([&] { load = run(fixture(), cache); });
    for (std::thread& thread : threads) thread.join();
    for (const auto& load : loads) {
      REQUIRE_OK(load);
      CHECK(same_bits(plain->logits, load->logits));
    }
    auto last = run(fixture(), cache);
    REQUIRE_OK(last);
    CHECK(last->was_cached() && same_bits(plain->logits, last->logits));
    CHECK_EQ(files_in(cache).size(), size_t{1});
  }
}

}  // namespace pagoda::test
