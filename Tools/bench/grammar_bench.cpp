// Measures token masks over a real vocabulary, and writes random documents of schemas for an external validator.
// Build: make -C Tools/native grammar_bench
// Usage: grammar_bench tokenizer.json schemas.json [documents per schema | percentiles]
// Without a third argument it prints times; with a number, a line of JSON per document: {"name": ..., "document": ...};
// with `percentiles`, the p50, p99 and worst time over all masks of three documents per schema, and refused schemas.
// Tools/bench/make_vocabulary.py writes a tokenizer.json of any size, make_schemas.py 200 schemas of many kinds.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/json_writer.h"
#include "grammar/compile.h"
#include "grammar/mask/token_grammar.h"
#include "text/bpe/tokenizer.h"

namespace {

using namespace pagoda;

std::string read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

double now_ms() {  // CPU time of this process
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

struct Statistics {
  int num_steps = 0, num_slow = 0;
  double mask_ms = 0, worst_ms = 0, compile_ms = 0;
  std::vector<double> times_ms;  // of each mask
};

double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return values[std::min(values.size() - 1, static_cast<size_t>(share * static_cast<double>(values.size())))];
}

// Draws random tokens, often ones that close something. Empty if the document does not end in time.
std::string draw_document(grammar::Matcher matcher, const text::SubwordTokenizer& tokenizer, std::mt19937_64& random,
                          Statistics& statistics) {
  std::string document;
  for (int i = 0; i < 200; ++i) {
    if (matcher.must_end()) return document;
    const double begin = now_ms();
    const auto mask = matcher.allowed();
    const double spent = now_ms() - begin;
    ++statistics.num_steps;
    statistics.num_slow += spent > 0.1;
    statistics.mask_ms += spent;
    statistics.worst_ms = std::max(statistics.worst_ms, spent);
    statistics.times_ms.push_back(spent);
    if (!matcher.status().is_ok()) return {};
    std::vector<int32_t> tokens, closing;
    for (size_t id = 0; id < mask.size() * 64; ++id) {
      if (mask[id / 64] == 0) id |= 63;
      if ((mask[id / 64] >> (id % 64) & 1) == 0) continue;
      tokens.push_back(static_cast<int32_t>(id));
      const std::string_view bytes = tokenizer.token_bytes(tokens.back());
      if (bytes == "\"" || bytes == "}" || bytes == "]") closing.push_back(tokens.back());
    }
    if (tokens.empty()) return matcher.is_complete() ? document : std::string();
    if (matcher.is_complete() && random() % 3 == 0) return document;
    if (!closing.empty() && random() % 3 == 0) tokens = closing;
    const std::string_view bytes = tokenizer.token_bytes(tokens[random() % tokens.size()]);
    document += bytes;
    if (!matcher.accept(bytes)) return {};
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return std::fprintf(stderr, "usage: grammar_bench tokenizer.json schemas.json [documents]\n"), 64;
  const auto tokenizer = text::SubwordTokenizer::from_json(read_file(argv[1]), argv[1]);
  const auto schemas = io::parse_json(read_file(argv[2]));
  if (!tokenizer.is_ok() || !schemas.is_ok()) return std::fprintf(stderr, "cannot read the files\n"), 1;
  const bool wants_percentiles = argc > 3 && std::string_view(argv[3]) == "percentiles";
  const int num_documents = argc > 3 ? std::atoi(argv[3]) : 0;
  const double begin = now_ms();
  const auto vocabulary =
      std::make_shared<const grammar::Vocabulary>(**tokenizer, (*tokenizer)->vocab_size(), std::vector<int32_t>());
  if (num_documents == 0)
    std::printf("%d tokens; tries: %zu and %zu nodes in %.0f ms\n", (*tokenizer)->vocab_size(),
                vocabulary->plain[0].longer.nodes().size(), vocabulary->other.nodes().size(), now_ms() - begin);
  std::mt19937_64 random(1);
  std::vector<double> times_ms, compile_ms;
  std::string refused;
  for (const io::Json& entry : schemas->items()) {
    std::string schema, name = entry.find("name")->as_string();
    io::append_json(*entry.find("schema"), schema);
    Statistics statistics;
    const double compile_begin = now_ms();
    auto compiled = grammar::compile({GrammarKind::json_schema, schema});
    statistics.compile_ms = now_ms() - compile_begin;
    if (!compiled.is_ok() && wants_percentiles) {
      refused += "refused " + name + ": " + compiled.status.message + "\n";
      continue;
    }
    if (!compiled.is_ok()) return std::fprintf(stderr, "%s: %s\n", name.c_str(), compiled.status.message.c_str()), 1;
    const auto shared = std::make_shared<grammar::TokenGrammar>(
        std::make_shared<const grammar::Grammar>(std::move(*compiled)), vocabulary);
    for (int i = 0; i < (wants_percentiles ? 3 : std::max(num_documents, 10)); ++i) {
      const std::string document = draw_document(grammar::Matcher(shared), **tokenizer, random, statistics);
      if (num_documents == 0 || document.empty()) continue;
      std::string line = "{\"name\":";
      io::append_json_string(name, line);
      line += ",\"document\":";
      io::append_json_string(document, line);
      std::printf("%s}\n", line.c_str());
    }
    times_ms.insert(times_ms.end(), statistics.times_ms.begin(), statistics.times_ms.end());
    compile_ms.push_back(statistics.compile_ms);
    if (!shared->status().is_ok()) refused += "refused " + name + ": " + shared->status().message + "\n";
    if (num_documents == 0 && !wants_percentiles)
      std::printf("%-28s compiled in %6.2f ms; %5d masks, mean %.3f ms, worst %.2f ms, %d above 0.1 ms\n", name.c_str(),
                  statistics.compile_ms, statistics.num_steps, statistics.mask_ms / statistics.num_steps,
                  statistics.worst_ms, statistics.num_slow);
  }
  if (wants_percentiles)
    std::printf(
        "%zu schemas, compiled in p50 %.2f, p99 %.2f ms\n%zu masks: p50 %.4f, p90 %.4f, p99 %.4f, worst %.3f ms\n%s",
        compile_ms.size(), percentile(compile_ms, 0.5), percentile(compile_ms, 0.99), times_ms.size(),
        percentile(times_ms, 0.5), percentile(times_ms, 0.9), percentile(times_ms, 0.99), percentile(times_ms, 1),
        refused.c_str());
  return 0;
}
