// Prompts, requests and folders of the tests of prefixes on disk.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "pagoda/request.h"

namespace pagoda::engine {

namespace fs = std::filesystem;
using Tokens = std::vector<int32_t>;

inline Tokens random_tokens(uint64_t seed, int count) {
  std::mt19937_64 rng(seed);
  Tokens tokens;
  for (int i = 0; i < count; ++i) tokens.push_back(static_cast<int32_t>(rng() % 95));
  return tokens;
}

inline Request make_request(const Tokens& prompt) {
  Request request;
  request.prompt_ids = prompt;
  request.sampling.max_tokens = 8;
  request.sampling.num_top_logprobs = 2;
  request.sampling.ignore_eos = true;
  return request;
}

inline std::vector<fs::path> files_in(const std::string& folder) {
  std::vector<fs::path> files;
  for (const auto& file : fs::directory_iterator(folder)) files.push_back(file.path());
  std::sort(files.begin(), files.end());
  return files;
}

inline int64_t bytes_in(const std::string& folder) {
  int64_t bytes = 0;
  for (const fs::path& file : files_in(folder)) bytes += static_cast<int64_t>(fs::file_size(file));
  return bytes;
}

}  // namespace pagoda::engine
