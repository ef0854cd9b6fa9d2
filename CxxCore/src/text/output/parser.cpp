// The seam's OutputParser: the text room's machine behind a reference count, with every exception turned into a Status.
#include "pagoda/output_parser.h"

#include <new>
#include <utility>

#include "text/output/machine.h"

void pagoda_output_parser_retain(pagoda::OutputParser* parser) noexcept {
  __atomic_fetch_add(&parser->references_, 1, __ATOMIC_RELAXED);
}

void pagoda_output_parser_release(pagoda::OutputParser* parser) noexcept {
  if (__atomic_sub_fetch(&parser->references_, 1, __ATOMIC_ACQ_REL) == 0) delete parser;
}

namespace pagoda {
namespace {

template <class Body>
Status guarded(Body&& body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return {StatusCode::out_of_memory, {}};  // an empty message: making one could throw again
  } catch (...) {
    return {StatusCode::internal, {}};
  }
}

}  // namespace

OutputParser::OutputParser(std::unique_ptr<text::OutputMachine> machine) noexcept : machine_(std::move(machine)) {}
OutputParser::~OutputParser() = default;

OutputPieces OutputParser::push(const std::string& text) noexcept {
  OutputPieces result;
  result.status = guarded([&] {
    result.pieces = machine_->push(text);
    return ok_status();
  });
  return result;
}

OutputPieces OutputParser::finish() noexcept {
  OutputPieces result;
  result.status = guarded([&] {
    result.pieces = machine_->finish();
    return ok_status();
  });
  return result;
}

OutputParser* make_output_parser(const OutputParserOptions& options, Status* status) noexcept {
  OutputParser* parser = nullptr;
  *status = guarded([&]() -> Status {
    Result<text::ToolList> tools = text::ToolList::parse(options.tools_json);
    if (!tools.is_ok()) return tools.status;
    parser = new OutputParser(std::make_unique<text::OutputMachine>(options, std::move(*tools)));
    return ok_status();
  });
  return parser;
}

}  // namespace pagoda
