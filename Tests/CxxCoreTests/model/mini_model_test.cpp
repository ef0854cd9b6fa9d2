// model: the embedded model answers like transformers, in its own bf16 and in float32, with many concurrent chats,
// and how much quantised weights change that.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/json.h"
#include "device/rig.h"
#include "io/quantize/files.h"
#include "model/model_runner.h"

namespace pagoda::test {
namespace {

struct Chat {
  std::string question;
  std::vector<int32_t> prompt, answer, capital;  // capital: the run of tokens that an answer must contain
};

std::vector<int32_t> integers(const io::Json* array) {
  std::vector<int32_t> values;
  if (array != nullptr)
    for (const io::Json& item : array->items()) values.push_back(static_cast<int32_t>(item.as_integer()));
  return values;
}

std::vector<Chat> read_chats(const char* key) {
  std::stringstream text;
  text << std::ifstream(fixtures_dir() + "/model/mini.json").rdbuf();
  auto json = io::parse_json(text.str());
  CHECK_OK(json);
  std::vector<Chat> chats;
  if (!json.is_ok() || json->find(key) == nullptr) return chats;
  for (const io::Json& row : json->find(key)->items())
    chats.push_back({row.find("question")->as_string(), integers(row.find("prompt")), integers(row.find("answer")),
                     integers(row.find("capital"))});
  return chats;
}

struct Form {
  std::string dtype = "auto", quantize = "none", kv_dtype = "auto", device = "cpu";
  std::string path = mini_model_dir();
};

Result<std::unique_ptr<ModelRunner>> load_mini(const Form& form, size_t num_chats) {
  return ModelRunner::load(folder(form.path), {.device = form.device,
                                               .dtype = form.dtype,
                                               .quantize = form.quantize,
                                               .kv_dtype = form.kv_dtype,
                                               .max_tokens = 2400,
                                               .max_seqs = static_cast<int32_t>(num_chats),
                                               .max_context = 96});
}

std::vector<std::vector<int32_t>> answers(const std::vector<Chat>& chats, const Form& form, size_t count,
                                          size_t chunk) {
  auto runner = load_mini(form, chats.size());
  CHECK_OK(runner);
  if (!runner.is_ok()) return {};
  std::vector<std::vector<int32_t>> prompts;
  for (const Chat& chat : chats) prompts.push_back(chat.prompt);
  return greedy(**runner, prompts, count, chunk, (*runner)->config().eos_token_ids.at(0));
}

void check_chats(const Form& form, size_t chunk, size_t num_chats = 20) {
  std::vector<Chat> chats = read_chats("chats");
  CHECK_EQ(chats.size(), size_t{20});
  chats.resize(num_chats);
  const auto said = answers(chats, form, 32, chunk);
  REQUIRE(said.size() == chats.size());
  for (size_t i = 0; i < chats.size(); ++i) {
    if (said[i] != chats[i].answer) note(chats[i].question);
    CHECK(said[i] == chats[i].answer);
  }
}

// Out of 100 questions; wrong answers are noted.
size_t count_right_capitals(const Form& form) {
  const std::vector<Chat> chats = read_chats("capitals");
  CHECK_EQ(chats.size(), size_t{100});
  const auto said = answers(chats, form, 24, 64);
  CHECK_EQ(said.size(), chats.size());
  size_t num_right = 0;
  for (size_t i = 0; i < said.size(); ++i) {
    const auto& capital = chats[i].capital;
    const auto found = std::search(said[i].begin(), said[i].end(), capital.begin(), capital.end());
    if (!capital.empty() && found != said[i].end()) ++num_right;
    else note(chats[i].question);
  }
  return num_right;
}

// Log probabilities of every next token after each position of a chat.
std::vector<double> log_probabilities(ModelRunner& runner, const std::vector<int32_t>& tokens) {
  const std::vector<float> logits = logits_of(runner, tokens, tokens.size());
  std::vector<double> out(logits.size());
  const size_t vocab = logits.size() / tokens.size();
  for (size_t row = 0; row < tokens.size(); ++row) {
    double sum = 0;
    for (size_t i = 0; i < vocab; ++i) sum += std::exp(static_cast<double>(logits[row * vocab + i]));
    for (size_t i = 0; i < vocab; ++i) out[row * vocab + i] = logits[row * vocab + i] - std::log(sum);
  }
  return out;
}

// Mean over all positions of the 20 chats of KL(float32 || form), in nats.
double mean_divergence(const Form& form) {
  const std::vector<Chat> chats = read_chats("chats");
  auto exact = load_mini({.dtype = "float32"}, 1), rounded = load_mini(form, 1);
  CHECK_OK(exact);
  CHECK_OK(rounded);
  double total = 0, positions = 0;
  for (const Chat& chat : chats) {
    std::vector<int32_t> tokens = chat.prompt;
    tokens.insert(tokens.end(), chat.answer.begin(), chat.answer.end());
    const std::vector<double> p = log_probabilities(**exact, tokens), q = log_probabilities(**rounded, tokens);
    for (size_t i = 0; i < p.size(); ++i) total += std::exp(p[i]) * (p[i] - q[i]);
    positions += static_cast<double>(tokens.size());
  }
  return total / positions;
}

void check_divergence(const Form& form, double most) {
  const double mean = mean_divergence(form);
  std::ostringstream text;
  text << form.quantize << ": mean KL to float32 " << mean << " nats";
  note(text.str());
  CHECK(mean >= 0 && mean < most);
}

// Devices that run the kernels of Shaders/.
std::vector<std::string> kernel_devices() {
  std::vector<std::string> names = tested_devices();
  std::erase_if(names, [](const std::string& name) { return !runs_kernels(name); });
  return names;
}

// The logits of 16 prompts in one step are bit-identical to those of each alone, whole and in chunks.
void check_same_bits_in_company(const std::string& device) {
  constexpr size_t kSequences = 16, kLength = 12, kCompared = 2;
  const std::vector<Chat> chats = read_chats("chats");
  REQUIRE(chats.size() >= kSequences);
  auto runner = load_mini({.device = device}, kSequences);
  REQUIRE_OK(runner);
  std::vector<ModelRunner::Sequence> sequences(kSequences);
  std::vector<ModelRunner::Chunk> chunks;
  for (size_t i = 0; i < kSequences; ++i) {
    REQUIRE(chats[i].prompt.size() >= kLength);
    chunks.push_back({&sequences[i], std::span(chats[i].prompt).first(kLength), true});
  }
  const auto step = (*runner)->step(chunks);
  const std::vector<float> together(step.begin(), step.end());
  REQUIRE(!together.empty());
  const size_t size = together.size() / kSequences;
  for (size_t i = 0; i < kCompared; ++i) {
    const std::vector<float> wanted(together.begin() + static_cast<std::ptrdiff_t>(i * size),
                                    together.begin() + static_cast<std::ptrdiff_t>((i + 1) * size));
    for (size_t chunk : {kLength, size_t{7}, size_t{1}})
      CHECK(logits_of(**runner, std::span(chats[i].prompt).first(kLength), chunk) == wanted);
  }
}

}  // namespace

PAGODA_TEST(model_mini_answers_chats_like_transformers) { check_chats({}, 64); }
PAGODA_TEST(model_mini_answers_chats_like_transformers_in_float32) { check_chats({.dtype = "float32"}, 7); }
PAGODA_TEST(model_mini_answers_chats_the_same_with_int8_kv) { check_chats({.kv_dtype = "int8"}, 64); }
PAGODA_TEST(model_mini_answers_chats_the_same_in_8_bit) { check_chats({.quantize = "8bit"}, 64); }
PAGODA_TEST(model_mini_answers_chats_like_transformers_on_kernels) {
  std::string ran;
  for (const std::string& device : kernel_devices()) {
    check_chats({.device = device}, 64, device == "software" ? 10 : 20);  // a GPU answers all of them in a second
    ran += device + " ";
  }
  note(ran);
  CHECK(ran.find("software") != std::string::npos || std::getenv("PAGODA_TEST_DEVICE") != nullptr);
}
PAGODA_TEST(model_mini_has_the_same_bits_alone_and_in_company_on_kernels) {
  for (const std::string& device : kernel_devices()) check_same_bits_in_company(device);
}
// 5 launches per recurrent layer, 6 per attention layer, 3 outside the layers; and hardly more bytes than the weights,
// the state and the cache.
PAGODA_TEST(model_mini_step_takes_few_launches_and_bytes_on_kernels) {
  auto runner = load_mini({.device = "software"}, 1);
  REQUIRE_OK(runner);
  const std::vector<int32_t> tokens = {1, 2, 3};
  logits_of(**runner, tokens, tokens.size());
  (*runner)->device().set_profiling(true);
  (*runner)->device().take_profile();
  logits_of(**runner, std::span(tokens).first(1), 1);
  int64_t launches = 0;
  double bytes = 0, weights = 0, seconds = 0;  // weights: including the rows they are multiplied with
  for (const OpTime& op : (*runner)->device().take_profile()) {
    if (op.name == "zero_slots") continue;  // for the new sequence
    launches += op.calls;
    bytes += op.bytes;
    seconds += op.seconds;
    if (op.name == "matmul") weights = op.bytes;
  }
  note(std::to_string(launches) + " launches, " + std::to_string(bytes) + " bytes, of them " + std::to_string(weights) +
       " in matmuls, " + std::to_string(seconds * 1e3) + " ms to encode");
  CHECK_EQ(launches, int64_t{6 * 5 + 2 * 5 + 3});
  CHECK(weights > 10e6 && bytes < 1.25 * weights);
}
PAGODA_TEST(model_mini_knows_100_of_100_capitals) { CHECK_EQ(count_right_capitals({}), size_t{100}); }
PAGODA_TEST(model_mini_knows_95_capitals_in_4_bit) { CHECK(count_right_capitals({.quantize = "4bit"}) >= 95); }

PAGODA_TEST(model_mini_says_the_same_in_8_bit_to_100_questions) {
  const std::vector<Chat> chats = read_chats("capitals");
  const auto wanted = answers(chats, {}, 24, 64), said = answers(chats, {.quantize = "8bit"}, 24, 64);
  REQUIRE(said.size() == wanted.size() && said.size() == 100);
  for (size_t i = 0; i < said.size(); ++i) {
    if (said[i] != wanted[i]) note(chats[i].question);
    CHECK(said[i] == wanted[i]);
  }
}

PAGODA_TEST(model_mini_stays_near_float32_in_every_form) {
  check_divergence({.quantize = "bf16"}, 2e-6);
  check_divergence({.quantize = "8bit"}, 5e-5);
  check_divergence({.quantize = "4bit"}, 4e-3);
}

// Written by quantize_files(), and run as they are stored. A mix costs 12 % more bytes than 4 bits.
PAGODA_TEST(model_mini_copies_stay_near_float32) {
  const auto files = io::open_model_files(folder(mini_model_dir()));
  REQUIRE_OK(files);
  const auto divergence = [&](const QuantizeOptions& options) {
    const std::string out = temporary_dir() + "/copy";
    std::filesystem::remove_all(out);
    const QuantizeResult result = io::quantize_files(**files, out, options, [](double) { return true; });
    CHECK_OK(result.status);
    const double mean = mean_divergence({.quantize = "auto", .path = out});
    std::ostringstream text;
    text << options.bits << (options.is_mixed ? " and 8" : "") << " bits: " << result.output_bytes
         << " bytes, mean KL to float32 " << mean << " nats";
    note(text.str());
    return mean;
  };
  const double narrow = divergence({.bits = 4}), mixed = divergence({.bits = 4, .is_mixed = true}),
               wide = divergence({.bits = 8});
  CHECK(wide >= 0 && wide < 3e-4 && wide < mixed && mixed < narrow / 2 && narrow < 6e-3);
}

}  // namespace pagoda::test
