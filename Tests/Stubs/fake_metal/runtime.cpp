// Answers messages by the text of their selector. Arguments are integers in registers; structs are not read.
#include "runtime.h"

#include <cstring>
#include <set>
#include <utility>

namespace fake {

Object* World::make(const std::string& type) {
  const std::lock_guard lock(mutex);
  objects.push_back({.type = type});
  return &objects.back();
}

void World::say(const std::string& text) {
  const std::lock_guard lock(mutex);
  log.push_back(text);
}

std::vector<std::string> World::take_log() {
  const std::lock_guard lock(mutex);
  return std::exchange(log, {});
}

int World::alive(const std::string& type) {
  const std::lock_guard lock(mutex);
  int count = 0;
  for (const Object& object : objects) count += object.type == type && object.num_refs > 0;
  return count;
}

World& world() {
  static World made;
  return made;
}

namespace {

constexpr uint64_t kCompleted = 4, kError = 5, kUnretained = 1;

uintptr_t address(const void* of) { return reinterpret_cast<uintptr_t>(of); }

Object* new_commands() {
  World& w = world();
  if (w.gives_no_commands) return nullptr;
  Object* made = w.make("commands");
  made->num_refs = 0;  // the pool's, which ends with the call
  made->number = ++w.num_commands;
  return made;
}

void commit(Object* commands) {
  World& w = world();
  w.say("commit " + std::to_string(commands->number));
  if (commands->status != 0) w.say("committed twice");
  const bool signals = !w.fails || w.signals_failures;
  if (w.fails && w.signals_failures) w.late_failures.push_back(commands);
  commands->status = w.fails && !w.signals_failures ? kError : kCompleted;
  if (signals && commands->event != nullptr) commands->event->value = commands->value;
}

// The messages of this object, or nothing: the caller answers.
bool answer_commands(Object* self, const std::string& name, uintptr_t a, uintptr_t b, uintptr_t& result) {
  World& w = world();
  const std::string number = std::to_string(self->number);
  if (name == "computeCommandEncoderWithDispatchType:") {
    Object* made = w.make("encoder");
    made->num_refs = 0;
    made->number = self->number;
    w.say("encode " + number + (a == 1 ? "" : " serial"));
    result = address(made);
  } else if (name == "encodeSignalEvent:value:") {
    self->event = reinterpret_cast<Object*>(a);
    self->value = b;
    w.say("signal " + number + (self->status != 0 ? " after commit" : ""));
  } else if (name == "commit") {
    commit(self);
  } else if (name == "waitUntilCompleted") {
    w.say("complete " + number + (self->status == 0 ? " before commit" : ""));
    for (Object* late : w.late_failures)
      if (late == self) self->status = kError;
  } else if (name == "status") {
    result = self->status;
  } else if (name == "error") {
    result = 0;
  } else {
    return false;
  }
  return true;
}

bool answer_encoder(Object* self, const std::string& name, uintptr_t a, uintptr_t b) {
  World& w = world();
  const std::string number = " " + std::to_string(self->number);
  if (name == "waitForFence:") w.say("wait" + number);
  else if (name == "updateFence:") w.say("update" + number);
  else if (name == "endEncoding") w.say("end" + number);
  else if (name == "memoryBarrierWithScope:") w.say("barrier");
  else if (name == "setBytes:length:atIndex:") w.say("values " + std::string(reinterpret_cast<const char*>(a), b));
  else if (name == "setBuffer:offset:atIndex:")
    w.say("buffer " + reinterpret_cast<Object*>(a)->type + "+" + std::to_string(b));
  else if (name.starts_with("dispatchThreadgroups:")) w.say("launch");
  else return name == "setComputePipelineState:";
  return true;
}

uintptr_t answer(Object* self, const char* selector, uintptr_t a, uintptr_t b) {
  World& w = world();
  const std::string name = selector;
  uintptr_t result = address(self);
  if (self == nullptr) return 0;
  if (name == "retain") {
    ++self->num_refs;
  } else if (name == "release") {
    --self->num_refs;
  } else if (name == "alloc") {
    result = address(w.make(self->type));
  } else if (name == "commandBufferWithDescriptor:") {
    if (reinterpret_cast<Object*>(a)->value != kUnretained) w.say("retained");
    result = address(new_commands());
  } else if (name == "setRetainedReferences:") {
    self->value = a == 0 ? kUnretained : 0;
  } else if (name == "newSharedEvent" || name == "newFence" || name == "newResidencySetWithDescriptor:error:") {
    result = address(w.make(name));
  } else if (name == "waitUntilSignaledValue:timeoutMS:") {
    w.say("event " + std::to_string(a) + (self->value < a ? " missing" : ""));
    result = self->value >= a;
  } else if (name == "respondsToSelector:" || name == "count") {
    result = 1;
  } else if (name == "supportsFamily:") {
    result = a <= w.newest_family;
  } else if (name == "UTF8String") {
    result = address(w.device_name.c_str());
  } else if (name == "addAllocation:" || name == "removeAllocation:" || name == "requestResidency" ||
             name == "endResidency") {
    w.say(name);
  } else if (self->type == "commands" && answer_commands(self, name, a, b, result)) {
    return result;
  } else if (self->type == "encoder") {
    if (!answer_encoder(self, name, a, b)) w.say("unknown " + name);
  }
  return result;
}

}  // namespace
}  // namespace fake

extern "C" {
// A message's result in the register of integers and, for times, in that of floating-point numbers (on x86-64).
struct Answer {
  uintptr_t integer;
  double number;
};
struct objc_selector;
struct objc_class;

Answer objc_msgSend(fake::Object* self, const char* selector, uintptr_t a, uintptr_t b) {
  const double seconds = std::strcmp(selector, "GPUEndTime") == 0 ? 0.001 : 0.0;
  return {fake::answer(self, selector, a, b), seconds};
}
const char* sel_registerName(const char* name) {
  static std::mutex mutex;
  static std::set<std::string> names;
  const std::lock_guard lock(mutex);
  return names.insert(name).first->c_str();
}
fake::Object* objc_getClass(const char* name) { return fake::world().make(name); }
}
