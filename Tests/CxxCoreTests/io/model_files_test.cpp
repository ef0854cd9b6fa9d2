// io/model_files: folders and memory give the same bytes, and no name, file type or truncation causes harm.
#include "io/model_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "io/quantize/bad_row.h"
#include "support/test.h"

namespace pagoda::io {
namespace {

using namespace std::string_literals;

void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

ModelFile in_memory(const std::string& name, const std::string& bytes) {
  return {name, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()};
}

std::string read_all(const File& file) {
  std::string bytes(file.size_bytes(), '?');
  CHECK_OK(file.read(0, std::as_writable_bytes(std::span(bytes))));
  return bytes;
}

}  // namespace

PAGODA_TEST(model_files_folder_and_memory_agree) {
  const std::string folder = test::temporary_dir(), config = "{\"a\": 1}", weights("\0\1\2\3"s), nothing;
  write_file(folder + "/config.json", config);
  write_file(folder + "/b.bin", weights);
  write_file(folder + "/empty", nothing);
  std::filesystem::create_directory(folder + "/sub");
  const auto from_folder = open_model_files({.directory = folder, .files = {}});
  const auto from_memory = open_model_files(
      {.directory = {},
       .files = {in_memory("config.json", config), in_memory("b.bin", weights), {"empty", nullptr, 0}}});
  for (const auto* files : {&from_folder, &from_memory}) {
    REQUIRE_OK(*files);
    const ModelFiles& model = ***files;
    CHECK(model.names() == (std::vector<std::string>{"b.bin", "config.json", "empty"}));
    CHECK(model.exists("b.bin") && !model.exists("c.bin") && !model.exists("../b.bin") && !model.exists(""));
    const auto text = model.read_text("config.json", 8);
    REQUIRE_OK(text);
    CHECK_EQ(*text, config);
    test::check_row("too large", model.read_text("config.json", 7).status, StatusCode::bad_file, "json: has 8 bytes");
    test::check_row("absent", model.open("c.bin").status, StatusCode::not_found, "c.bin");
    CHECK_EQ(model.read_text("empty", 0).value.value_or("?"), "");

    const auto file = model.open("b.bin");
    REQUIRE_OK(file);
    CHECK_EQ(read_all(**file), weights);
    std::byte two[2];
    CHECK_OK((*file)->read(2, two));
    CHECK_EQ(static_cast<int>(two[1]), 3);
    CHECK_OK((*file)->read(4, std::span<std::byte>()));
    test::check_row("past the end", (*file)->read(3, two), StatusCode::bad_file, "outside the file of 4 bytes");
    test::check_row("far past the end", (*file)->read(UINT64_MAX, two), StatusCode::bad_file, "outside the file");
  }
  CHECK_EQ((*from_folder)->description(), folder);
  CHECK_EQ((*from_memory)->description(), "memory");
}

PAGODA_TEST(model_files_refuse_names_that_lead_elsewhere) {
  const std::string folder = test::temporary_dir();
  std::filesystem::create_directory(folder + "/model");
  write_file(folder + "/secret", "x");
  const auto files = open_model_files({.directory = folder + "/model", .files = {}});
  REQUIRE_OK(files);
  struct Row {
    std::string name;
    const char* message;
  };
  const Row rows[] = {{"", "is empty"},
                      {"../secret", "path separator"},
                      {"/etc/hostname", "path separator"},
                      {"sub/x", "path separator"},
                      {"..\\secret", "path separator"},
                      {"C:\\x", "path separator"},
                      {"..", "leads out"},
                      {".", "leads out"},
                      {"secret\0.json"s, "NUL"}};
  for (const Row& row : rows) {
    test::check_row(row.name, (*files)->open(row.name).status, StatusCode::invalid_argument, row.message);
    test::check_row(row.name, (*files)->read_text(row.name, 10).status, StatusCode::invalid_argument, row.message);
    CHECK(!(*files)->exists(row.name));
    const auto memory = open_model_files({.directory = {}, .files = {{row.name, nullptr, 0}}});
    test::check_row(row.name, memory.status, StatusCode::invalid_argument, row.message);
  }
}

PAGODA_TEST(model_files_open_only_regular_files_and_never_wait) {
  const std::string folder = test::temporary_dir();
  write_file(folder + "/real", "abc");
  std::filesystem::create_symlink("real", folder + "/link");
  std::filesystem::create_symlink("nowhere", folder + "/dangling");
  std::filesystem::create_symlink("loop", folder + "/loop");
  std::filesystem::create_directory(folder + "/dir");
  REQUIRE(mkfifo((folder + "/fifo").c_str(), 0600) == 0);
  const auto files = open_model_files({.directory = folder, .files = {}});
  REQUIRE_OK(files);
  const auto link = (*files)->open("link");
  REQUIRE_OK(link);
  CHECK_EQ(read_all(**link), "abc");
  test::check_row("fifo", (*files)->open("fifo").status, StatusCode::bad_file, "/fifo: is not a regular file");
  test::check_row("dir", (*files)->open("dir").status, StatusCode::bad_file, "/dir: is not a regular file");
  test::check_row("dangling", (*files)->open("dangling").status, StatusCode::not_found, "/dangling");
  test::check_row("loop", (*files)->open("loop").status, StatusCode::io_error, "/loop");
  CHECK((*files)->names() == (std::vector<std::string>{"link", "real"}));
}

PAGODA_TEST(model_files_name_a_source_that_cannot_be_opened) {
  const std::string folder = test::temporary_dir();
  write_file(folder + "/file", "");
  const auto open = [](const std::string& path) { return open_model_files({.directory = path, .files = {}}).status; };
  test::check_row("missing", open(folder + "/absent"), StatusCode::not_found, folder + "/absent");
  test::check_row("below a file", open(folder + "/file/x"), StatusCode::not_found, folder + "/file/x");
  test::check_row("a file", open(folder + "/file"), StatusCode::invalid_argument,
                  "is neither a folder nor a .gguf file");
  test::check_row("nothing", open(""), StatusCode::invalid_argument, "no folder, no files");
  test::check_row("NUL", open(folder + "\0x"s), StatusCode::invalid_argument, "NUL");
  const std::string bytes = "x";
  const ModelFile file = in_memory("a", bytes);
  test::check_row("twice", open_model_files({.directory = {}, .files = {file, file}}).status,
                  StatusCode::invalid_argument, "'a' occurs twice");
  test::check_row("no data", open_model_files({.directory = {}, .files = {{"a", nullptr, 1}}}).status,
                  StatusCode::invalid_argument, "'a' has no data");
}

// With a mapping this would be a SIGBUS.
PAGODA_TEST(model_files_report_a_file_that_shrank) {
  const std::string folder = test::temporary_dir(), path = folder + "/w";
  write_file(path, std::string(100'000, 'w'));
  const auto files = open_model_files({.directory = folder, .files = {}});
  REQUIRE_OK(files);
  const auto file = (*files)->open("w");
  REQUIRE_OK(file);
  REQUIRE(truncate(path.c_str(), 5000) == 0);
  std::vector<std::byte> bytes(100'000);
  test::check_row("shrunk", (*file)->read(0, bytes), StatusCode::io_error, path + ": shrank after it was opened");
  CHECK_OK((*file)->read(0, std::span(bytes).first(5000)));
  REQUIRE(truncate(path.c_str(), 0) == 0);
  test::check_row("emptied", (*file)->read(0, std::span(bytes).first(1)), StatusCode::io_error, "shrank");
}

PAGODA_TEST(model_files_read_the_end_of_a_terabyte) {
  const std::string folder = test::temporary_dir(), path = folder + "/sparse";
  write_file(path, "begin");
  constexpr uint64_t kSize = uint64_t{1} << 40;
  if (truncate(path.c_str(), static_cast<off_t>(kSize)) != 0) return test::note("no sparse files here");
  const auto files = open_model_files({.directory = folder, .files = {}});
  REQUIRE_OK(files);
  const auto file = (*files)->open("sparse");
  REQUIRE_OK(file);
  CHECK_EQ((*file)->size_bytes(), kSize);
  std::byte last[16];
  std::memset(last, 1, sizeof last);
  CHECK_OK((*file)->read(kSize - 16, last));
  CHECK_EQ(static_cast<int>(last[15]), 0);
  test::check_row("text", (*files)->read_text("sparse", 1 << 20).status, StatusCode::bad_file, "has 1099511627776");
}

}  // namespace pagoda::io
