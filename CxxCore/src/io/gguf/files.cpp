// Opens the parts of a GGUF model, and writes the small files that a folder would have.
#include "io/gguf/files.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>
#include <utility>

#include "base/assign_or_return.h"
#include "base/quoted.h"
#include "io/gguf/config.h"
#include "io/gguf/gguf.h"
#include "io/gguf/vision.h"

namespace pagoda::io {
namespace {

constexpr std::string_view kEnding = ".gguf";
constexpr std::string_view kVisionStart = "mmproj";  // prefix of a file with a vision tower
constexpr std::string_view kHeadStart = "mtp-";      // prefix of a file with only an MTP head

// A text generated from metadata.
class TextFile final : public File {
 public:
  TextFile(std::string name, std::string text) : name_(std::move(name)), text_(std::move(text)) {}
  uint64_t size_bytes() const noexcept override { return text_.size(); }
  const std::string& name() const noexcept override { return name_; }
  Status read(uint64_t offset, std::span<std::byte> into) const noexcept override {
    PAGODA_RETURN_IF_ERROR(check_range(name_, text_.size(), offset, into.size()));
    std::memcpy(into.data(), text_.data() + offset, into.size());
    return ok_status();
  }

 private:
  std::string name_, text_;
};

// `text`: the parts of the text model; `vision` is null for a model without a vision tower.
using Maker = Result<std::string> (*)(std::span<const Gguf> text, const Gguf* vision);
constexpr std::pair<std::string_view, Maker> kTexts[] = {
    {"config.json", gguf_config_json},
    {"preprocessor_config.json",
     [](std::span<const Gguf>, const Gguf* vision) { return Result<std::string>(gguf_preprocessor_json(*vision)); }},
    {"tokenizer.json", [](std::span<const Gguf> text, const Gguf*) { return gguf_tokenizer_json(text.front()); }},
    {"tokenizer_config.json",
     [](std::span<const Gguf> text, const Gguf*) { return gguf_tokenizer_config_json(text.front()); }}};

class GgufFiles final : public ModelFiles {
 public:
  GgufFiles(std::vector<Gguf> parts, size_t num_text_parts, std::string description) noexcept
      : parts_(std::move(parts)), num_text_parts_(num_text_parts), description_(std::move(description)) {}

  bool exists(std::string_view name) const noexcept override {
    if (name == "config.json" || name == "tokenizer_config.json") return true;
    if (name == "preprocessor_config.json") return vision() != nullptr;
    return name == "tokenizer.json" && has_gguf_tokenizer(parts_.front());
  }
  Result<std::unique_ptr<File>> open(std::string_view name) const override {
    for (const auto& [known, make] : kTexts) {
      if (known != name || !exists(name)) continue;
      PAGODA_ASSIGN_OR_RETURN(auto text, make(std::span(parts_).first(num_text_parts_), vision()));
      return std::unique_ptr<File>(std::make_unique<TextFile>(description_ + "/" + std::string(name), std::move(text)));
    }
    return make_error(StatusCode::not_found, description_ + ": has no " + io::quoted(name));
  }
  std::vector<std::string> names() const override {
    std::vector<std::string> all;
    for (const auto& [name, make] : kTexts)
      if (exists(name)) all.emplace_back(name);
    return all;
  }
  std::string description() const override { return description_; }
  std::span<const Gguf> gguf_parts() const noexcept override { return parts_; }

 private:
  const Gguf* vision() const noexcept { return is_gguf_vision(parts_.back()) ? &parts_.back() : nullptr; }

  std::vector<Gguf> parts_;  // of the text, then files of a head and of a vision tower
  size_t num_text_parts_;
  std::string description_;
};

struct PartName {
  std::string stem;
  int index = 0, count = 0;  // 0: not split
};

// "name-00001-of-00003.gguf"
PartName parse_part(std::string_view name) {
  constexpr size_t kDigits = 5, kTail = kDigits + 4 + kDigits + kEnding.size();
  if (name.size() <= kTail + 1 || name[name.size() - kTail - 1] != '-') return {};
  const std::string_view tail = name.substr(name.size() - kTail);
  PartName part{std::string(name.substr(0, name.size() - kTail)), 0, 0};
  const auto number = [&](size_t at, int& value) {
    const char* end = tail.data() + at + kDigits;
    return std::from_chars(tail.data() + at, end, value).ptr == end;
  };
  if (tail.substr(kDigits, 4) != "-of-" || !number(0, part.index) || !number(kDigits + 4, part.count)) return {};
  return part;
}

std::string part_name(const PartName& part, int index) {
  const auto digits = [](int number) {
    const std::string text = std::to_string(number);
    return std::string(5 - text.size(), '0') + text;
  };
  return part.stem + digits(index) + "-of-" + digits(part.count) + std::string(kEnding);
}

// The file with the head of model `name`: named after it, or the only one in the folder; empty: none.
std::string find_head_name(const ModelFiles& files, const std::string& name) {
  std::vector<std::string> heads;
  for (const std::string& each : files.names()) {
    if (each == std::string(kHeadStart) + name) return each;
    if (each.starts_with(kHeadStart) && each.ends_with(kEnding) && parse_part(each).count == 0) heads.push_back(each);
  }
  return heads.size() == 1 ? heads.front() : std::string();
}

bool has_nextn(const Gguf& part) {
  return std::ranges::any_of(part.tensors(),
                             [](const auto& each) { return each.first.find(".nextn.") != std::string::npos; });
}

// A head of another model is ignored, and so is one next to a model that has its own.
Status add_head_file(const ModelFiles& files, const std::string& name, std::vector<Gguf>& parts) {
  if (std::ranges::any_of(parts, has_nextn)) return ok_status();
  const std::string head_name = find_head_name(files, name);
  if (head_name.empty()) return ok_status();
  PAGODA_ASSIGN_OR_RETURN(auto file, files.open(head_name));
  PAGODA_ASSIGN_OR_RETURN(auto head, Gguf::open(std::move(file)));
  constexpr std::string_view kArchitecture = "general.architecture";
  if (head.string(kArchitecture) == parts.front().string(kArchitecture) && is_gguf_head(head))
    parts.push_back(std::move(head));
  return ok_status();
}

// The file of the vision tower; empty: none, or several of which none is preferred.
std::string find_vision_name(const ModelFiles& files, const std::string& name) {
  std::vector<std::string> towers;
  for (const std::string& each : files.names()) {
    if (each == std::string(kVisionStart) + "-" + name) return each;
    if (each.starts_with(kVisionStart) && each.ends_with(kEnding)) towers.push_back(each);
  }
  if (towers.size() == 1) return towers.front();
  for (const std::string_view end : {"bf16.gguf", "f16.gguf", "f32.gguf"})
    for (const std::string& each : towers) {
      std::string lower = each;
      std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return c < 128 ? std::tolower(c) : c; });
      if (lower.ends_with(end)) return each;
    }
  return {};
}

// The last part. A file beside the model that is no vision tower is ignored.
Status add_vision_file(const ModelFiles& files, const std::string& name, std::unique_ptr<File> given,
                       std::vector<Gguf>& parts) {
  const bool is_given = given != nullptr;
  if (!is_given) {
    const std::string found = find_vision_name(files, name);
    if (found.empty()) return ok_status();
    PAGODA_ASSIGN_OR_RETURN(given, files.open(found));
  }
  const std::string path = given->name();
  auto vision = Gguf::open(std::move(given));
  if (!vision.is_ok()) return is_given ? vision.status : ok_status();
  if (is_gguf_vision(*vision)) parts.push_back(std::move(*vision));
  else if (is_given) return make_error(StatusCode::invalid_argument, path + ": is not a vision tower (mmproj)");
  return ok_status();
}

}  // namespace

bool is_gguf_head(const Gguf& part) {
  return part.has("general.architecture") && part.integer("split.count").value_or(0) <= 1 && has_nextn(part) &&
         !part.tensors().contains("blk.0.attn_norm.weight") && !part.tensors().contains("blk.0.hc_attn_norm.weight");
}

Result<std::unique_ptr<ModelFiles>> open_gguf_files(std::unique_ptr<ModelFiles> files, const std::string& name,
                                                    std::unique_ptr<File> vision) {
  const PartName part = parse_part(name);
  constexpr int kMaxParts = 1000;
  if (part.count > kMaxParts || (part.count > 0 && part.index != 1))
    return make_error(StatusCode::invalid_argument, io::quoted(name) + " is not the first part of a model");
  std::vector<Gguf> parts;
  for (int i = 1; i <= std::max(part.count, 1); ++i) {
    PAGODA_ASSIGN_OR_RETURN(auto file, files->open(part.count > 0 ? part_name(part, i) : name));
    PAGODA_ASSIGN_OR_RETURN(auto gguf, Gguf::open(std::move(file)));
    parts.push_back(std::move(gguf));
  }
  if (part.count == 0 && is_gguf_head(parts.front()))
    return make_error(StatusCode::invalid_argument,
                      io::quoted(name) + " has only an MTP head: name the model that it belongs to");
  if (is_gguf_vision(parts.front()))
    return make_error(StatusCode::invalid_argument,
                      io::quoted(name) + " has only a vision tower: name the model that it belongs to");
  const size_t num_text_parts = parts.size();
  PAGODA_RETURN_IF_ERROR(add_head_file(*files, name, parts));
  PAGODA_RETURN_IF_ERROR(add_vision_file(*files, name, std::move(vision), parts));
  const std::string description = parts.front().file()->name();
  return std::unique_ptr<ModelFiles>(std::make_unique<GgufFiles>(std::move(parts), num_text_parts, description));
}

Result<std::string> find_gguf_name(const ModelFiles& files) {
  std::string found;
  for (const std::string& name : files.names()) {
    if (!name.ends_with(kEnding) || name.starts_with(kVisionStart) || name.starts_with(kHeadStart) ||
        parse_part(name).index > 1)
      continue;
    if (!found.empty())
      return make_error(StatusCode::invalid_argument, files.description() + ": has several models, " +
                                                          io::quoted(found) + " and " + io::quoted(name) +
                                                          "; name one of them");
    found = name;
  }
  return found;
}

}  // namespace pagoda::io
