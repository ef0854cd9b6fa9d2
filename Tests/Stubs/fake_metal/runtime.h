// A fake of the Objective-C runtime and of Metal: objects that count references, and a log of what a GPU would be told.
// It runs nothing. Calls are logged as text; command buffers and encoders have numbers in the order of their creation.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace fake {

struct Object {
  std::string type;
  int number = 0;  // of a command buffer, and of its encoder
  int num_refs = 1;
  uint64_t status = 0;
  Object* event = nullptr;  // to be signalled with `value` when it is committed; its own value if it is an event
  uint64_t value = 0;
};

struct World {
  std::mutex mutex;
  std::deque<Object> objects;
  std::vector<std::string> log;
  int num_commands = 0;
  // Of the next command buffers that are committed: whether they fail, and whether they signal nevertheless.
  bool fails = false, signals_failures = false;
  // Statuses of commands that signalled before the host could see that they failed.
  std::vector<Object*> late_failures;
  bool gives_no_commands = false;
  uintptr_t newest_family = 5002;  // of a device
  std::string device_name = "Fake GPU";

  Object* make(const std::string& type);
  void say(const std::string& text);
  std::vector<std::string> take_log();
  int alive(const std::string& type);
};

World& world();

}  // namespace fake
