// loader: the embedded model answers, files in memory load like a folder, and chat templates are found.
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>

#include "base/json.h"
#include "engine/load/load_options.h"
#include "engine/load/text_files.h"
#include "engine/recorder.h"

namespace pagoda::engine {
namespace {

using test::cpu_options;
using test::mini;
using test::Recorder;

// The answer of the embedded model to ChatML text around `question`.
struct Chat {
  LoadedModel loaded;
  std::unique_ptr<EngineCore> core;

  Chat() {
    auto result = load(mini(), cpu_options(), nullptr);
    CHECK_OK(result);
    if (!result.is_ok()) return;
    loaded = std::move(*result);
    core = std::make_unique<EngineCore>(*loaded.model, loaded.core);
  }

  void ask(const std::string& question, const SamplingParams& sampling, Recorder& recorder) {
    Request request;
    request.sampling = sampling;
    const std::string prompt =
        "<|im_start|>user\n" + question + "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n";
    CHECK_OK(loaded.tokenizer->encode(prompt, /*parse_special=*/true, request.prompt_ids));
    auto prepared = core->prepare(request, 1, &Recorder::on_event, &recorder);
    CHECK_OK(prepared);
    if (prepared.is_ok()) core->add(std::move(*prepared));
    while (core->has_work()) core->step();
  }
};

}  // namespace

PAGODA_TEST(engine_the_embedded_model_answers) {
  Chat chat;
  REQUIRE(chat.core != nullptr);
  Recorder recorder;
  chat.ask("what's the capital of France?", SamplingParams{}, recorder);
  test::note(recorder.text);
  CHECK(recorder.text.find("Paris") != std::string::npos);
  CHECK(recorder.text.find("<|im_end|>") == std::string::npos);
  CHECK(recorder.reason == FinishReason::stop);
}

PAGODA_TEST(engine_a_stop_string_cuts_the_text_before_it) {
  Chat chat;
  REQUIRE(chat.core != nullptr);
  Recorder whole, cut;
  chat.ask("what's the capital of France?", SamplingParams{}, whole);
  SamplingParams sampling;
  sampling.stop = {"Par", "never"};
  chat.ask("what's the capital of France?", sampling, cut);
  CHECK_EQ(cut.text, whole.text.substr(0, whole.text.find("Par")));
  CHECK_EQ(cut.stop_string, "Par");
  CHECK(cut.reason == FinishReason::stop);
}

PAGODA_TEST(engine_files_in_memory_load_like_a_folder) {
  ModelSource source;
  std::vector<std::string> contents;
  for (const auto& entry : std::filesystem::directory_iterator(test::mini_model_dir())) {
    std::ifstream file(entry.path(), std::ios::binary);
    contents.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    source.files.push_back({entry.path().filename().string(), nullptr, contents.back().size()});
  }
  for (size_t i = 0; i < contents.size(); ++i)
    source.files[i].data = reinterpret_cast<const uint8_t*>(contents[i].data());
  const auto from_memory = inspect(source, cpu_options()), from_folder = inspect(mini(), cpu_options());
  REQUIRE_OK(from_memory);
  REQUIRE_OK(from_folder);
  CHECK_EQ(from_memory->num_parameters, from_folder->num_parameters);
  CHECK_EQ(from_memory->plan.total_bytes(), from_folder->plan.total_bytes());
  CHECK(from_memory->has_tokenizer && from_memory->has_chat_template);
}

// A folder with only the given files.
static std::unique_ptr<io::ModelFiles> folder_with(const std::map<std::string, std::string>& contents) {
  const std::string path = test::temporary_dir();
  for (const auto& [name, text] : contents) std::ofstream(path + "/" + name) << text;
  auto files = io::open_model_files({path, {}});
  CHECK_OK(files);
  return std::move(*files);
}

static std::string rendered(const io::ModelFiles& files) {
  const auto loaded = load_template_file(files);
  if (!loaded.is_ok()) return loaded.status.message;
  if (!*loaded) return "none";
  const auto segments = (*loaded)->render(*io::parse_json("{}"));
  return segments.is_ok() && !segments->empty() ? segments->front().text : segments.status.message;
}

PAGODA_TEST(engine_finds_the_chat_template_where_model_folders_keep_it) {
  const std::string config = R"({"bos_token": {"content": "<s>"}, "chat_template": "old {{ bos_token }}"})";
  CHECK_EQ(rendered(*folder_with({{"tokenizer_config.json", config}})), "old <s>");
  CHECK_EQ(rendered(*folder_with({{"tokenizer_config.json", config}, {"chat_template.jinja", "new {{ bos_token }}"}})),
           "new <s>");
  const std::string named =
      R"({"chat_template": [{"name": "x", "template": "a"}, {"name": "default", "template": "b"}]})";
  CHECK_EQ(rendered(*folder_with({{"tokenizer_config.json", named}})), "b");
  CHECK_EQ(rendered(*folder_with({{"tokenizer_config.json", R"({"chat_template": null})"}})), "none");
  CHECK_EQ(rendered(*folder_with({})), "none");
}

}  // namespace pagoda::engine
