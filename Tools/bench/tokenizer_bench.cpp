// Measures how long a tokenizer.json takes to load and how many megabytes of text it encodes per second on one core.
// Build: clang++ -std=c++20 -O2 -ICxxCore/include -ICxxCore/src Tools/bench/tokenizer_bench.cpp
// CxxCore/src/io/json*.cpp
//        $(ls CxxCore/src/text/*.cpp | grep -v -e jinja -e chat_template) -o tokenizer_bench
// Usage: tokenizer_bench tokenizer.json text...
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "text/bpe/tokenizer.h"

namespace {

std::string read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// CPU seconds of the fastest of several runs: other load on the machine does not count.
template <class F>
double best_seconds(F&& body) {
  double best = 1e9;
  for (int run = 0; run < 7; ++run) {
    const std::clock_t start = std::clock();
    body();
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: tokenizer_bench tokenizer.json text...\n"), 64;
  const std::string json = read_file(argv[1]);
  const auto tokenizer = pagoda::text::SubwordTokenizer::from_json(json, argv[1]);
  if (!tokenizer.is_ok()) return std::fprintf(stderr, "%s\n", tokenizer.status.message.c_str()), 1;
  const double load = best_seconds([&] { (void)pagoda::text::SubwordTokenizer::from_json(json, argv[1]); });
  std::printf("load: %.1f MB in %.0f ms, %d tokens\n", json.size() / 1e6, load * 1e3, (*tokenizer)->vocab_size());
  for (int i = 2; i < argc; ++i) {
    const std::string text = read_file(argv[i]);
    std::vector<int32_t> ids;
    const double seconds = best_seconds([&] {
      ids.clear();
      (void)(*tokenizer)->encode(text, /*parse_special=*/false, ids);
    });
    std::printf("%s: %.2f MB, %zu tokens, %.1f MB/s\n", argv[i], text.size() / 1e6, ids.size(),
                text.size() / 1e6 / seconds);
  }
  return 0;
}
