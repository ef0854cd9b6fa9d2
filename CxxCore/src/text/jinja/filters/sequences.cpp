// Filters on sequences and mappings. jinja2's generators are iterators here: consumed once, and always truthy.
#include "text/jinja/filters/filters.h"
#include "text/jinja/value/case.h"
#include "text/jinja/value/number.h"
#include "text/jinja/value/objects.h"
#include "text/jinja/value/operations.h"
#include "text/jinja/value/print.h"
#include "text/jinja/value/strings.h"

namespace pagoda::text::jinja {
namespace {

Value iterator_of(Runtime& rt, std::vector<Value> items) { return rt.make_list(std::move(items), Kind::iterator); }

// The key that sort, unique, min ... compare: an attribute of the item, in lower case by default.
Value sort_key(Runtime& rt, const Value& item, const Value& attribute, bool case_sensitive) {
  const Value key = get_path(rt, item, attribute);
  return key.is_string() && !case_sensitive ? map_text(rt, key, to_lower) : key;
}

struct Keyed {
  Value key, item;
};

std::vector<Value> sorted_by_key(Runtime& rt, std::vector<Keyed> keyed, bool reverse) {
  sort_stably(keyed, [&](const Keyed& x, const Keyed& y) {
    return rt.ok() && (reverse ? less_than(rt, y.key, x.key) : less_than(rt, x.key, y.key));
  });
  std::vector<Value> items;
  for (Keyed& entry : keyed) items.push_back(std::move(entry.item));
  return items;
}

Value filter_length(Runtime& rt, const Value& in, const Arguments& a) {
  a.bind(rt, "length", {}, 0);
  return Value::of_int(length_of(rt, in));
}

Value filter_list(Runtime& rt, const Value& in, const Arguments& a) {
  a.bind(rt, "list", {}, 0);
  return rt.make_list(to_items(rt, in));
}

Value filter_join(Runtime& rt, const Value& in, const Arguments& a) {
  const auto args = a.bind(rt, "join", {"d", "attribute"}, 0);
  const Value separator = args[0].is_missing() ? Value::literal({}) : to_str(rt, args[0]);
  if (args[1].is_missing() || args[1].is_none()) return join(rt, separator, in);
  std::vector<Value> items;
  Items walk(rt, in);
  for (Value item; walk.next(item);) items.push_back(get_path(rt, item, args[1]));
  return join(rt, separator, rt.make_list(std::move(items)));
}

Value filter_first(Runtime& rt, const Value& in, const Arguments& a) {
  a.bind(rt, "first", {}, 0);
  Items items(rt, in);
  Value item;
  return items.next(item) ? item : Value::undefined("No first item, sequence was empty.");
}

Value filter_last(Runtime& rt, const Value& in, const Arguments& a) {
  a.bind(rt, "last", {}, 0);
  if (in.is(Kind::iterator)) return rt.fail("'generator' object is not reversible");
  if (in.is_listlike() || in.is_string() || in.is(Kind::range)) {
    const Value item = subscript(rt, in, Value::of_int(-1));
    return item.is_missing() ? Value::undefined("No last item, sequence was empty.") : item;
  }
  std::vector<Value> items = to_items(rt, in);
  return items.empty() ? Value::undefined("No last item, sequence was empty.") : items.back();
}

Value filter_reverse(Runtime& rt, const Value& in, const Arguments& a) {
  a.bind(rt, "reverse", {}, 0);
  if (in.is_string()) return slice(rt, in, Value(), Value(), Value::of_int(-1));
  std::vector<Value> items = to_items(rt, in);
  std::reverse(items.begin(), items.end());
  return iterator_of(rt, std::move(items));
}

Value filter_items(Runtime& rt, const Value& in, const Arguments& a) {
  a.bind(rt, "items", {}, 0);
  if (in.is_undefined()) return iterator_of(rt, {});
  if (!in.is(Kind::dict)) return rt.fail("Can only get item pairs from a mapping.");
  return iterator_of(rt, call_method(rt, in, "items", {}).sequence().items);
}

Value filter_dictsort(Runtime& rt, const Value& in, const Arguments& a) {
  const auto args = a.bind(rt, "dictsort", {"case_sensitive", "by", "reverse"}, 0);
  const std::string_view by = args[1].is_missing() ? "key" : args[1].bytes();
  if (by != "key" && by != "value") return rt.fail("You can only sort by either \"key\" or \"value\"");
  if (!in.is(Kind::dict)) return in.is_undefined() ? rt.fail_undefined(in) : rt.fail("dictsort expects a mapping");
  std::vector<Keyed> keyed;
  for (const auto& [key, value] : in.dict().entries) {
    if (!rt.work(64)) break;
    keyed.push_back(
        {sort_key(rt, by == "key" ? key : value, Value(), truthy(args[0])), rt.make_list({key, value}, Kind::tuple)});
  }
  return rt.make_list(sorted_by_key(rt, std::move(keyed), truthy(args[2])));
}

Value filter_sort(Runtime& rt, const Value& in, const Arguments& a) {
  const auto args = a.bind(rt, "sort", {"reverse", "case_sensitive", "attribute"}, 0);
  std::vector<Value> paths;  // "a,b" sorts by a, then by b
  if (args[2].is_string()) {
    Arguments comma;
    comma.positional.push_back(Value::literal(","));
    paths = to_items(rt, call_string_method(rt, args[2], "split", comma));
  } else {
    paths.push_back(args[2]);
  }
  std::vector<Keyed> keyed;
  Items items(rt, in);
  for (Value item; items.next(item);) {
    std::vector<Value> keys;
    for (const Value& path : paths) keys.push_back(sort_key(rt, item, path, truthy(args[1])));
    keyed.push_back({keys.size() == 1 ? keys[0] : rt.make_list(std::move(keys)), item});
  }
  return rt.make_list(sorted_by_key(rt, std::move(keyed), truthy(args[0])));
}

Value filter_unique(Runtime& rt, const Value& in, const Arguments& a) {
  const auto args = a.bind(rt, "unique", {"case_sensitive", "attribute"}, 0);
  std::vector<Value> seen, kept;
  Items items(rt, in);
  for (Value item; items.next(item);) {
    const Value key = sort_key(rt, item, args[1], truthy(args[0]));
    check_hashable(rt, key);
    if (std::any_of(seen.begin(), seen.end(), [&](const Value& k) { return equals(rt, k, key); })) continue;
    seen.push_back(key);
    kept.push_back(item);
  }
  return iterator_of(rt, std::move(kept));
}

Value extreme(Runtime& rt, const Value& in, const Arguments& a, bool maximum) {
  const auto args = a.bind(rt, maximum ? "max" : "min", {"case_sensitive", "attribute"}, 0);
  Items items(rt, in);
  Keyed best{Value(), Value::undefined("No aggregated item, sequence was empty.")};
  for (Value item; items.next(item);) {
    const Value key = sort_key(rt, item, args[1], truthy(args[0]));
    if (best.key.is_missing() || (maximum ? less_than(rt, best.key, key) : less_than(rt, key, best.key)))
      best = {key, item};
  }
  return best.item;
}

Value filter_min(Runtime& rt, const Value& in, const Arguments& a) { return extreme(rt, in, a, false); }
Value filter_max(Runtime& rt, const Value& in, const Arguments& a) { return extreme(rt, in, a, true); }

Value filter_sum(Runtime& rt, const Value& in, const Arguments& a) {
  const auto args = a.bind(rt, "sum", {"attribute", "start"}, 0);
  Value total = args[1].is_missing() ? Value::of_int(0) : args[1];
  Items items(rt, in);
  for (Value item; items.next(item);) total = arithmetic(rt, Operator::add, total, get_path(rt, item, args[0]));
  return total;
}

Value filter_map(Runtime& rt, const Value& in, const Arguments& a) {
  std::vector<Value> out;
  if (!truthy(in)) return iterator_of(rt, {});
  if (a.positional.empty()) {
    const auto args = a.bind(rt, "map", {"attribute", "default"}, 1);
    Items items(rt, in);
    for (Value item; items.next(item);) out.push_back(get_path(rt, item, args[0], args[1]));
    return iterator_of(rt, std::move(out));
  }
  const std::string name(a.positional[0].bytes());
  const Filter filter = find_filter(name);
  if (filter == nullptr) return rt.fail("No filter named '" + name + "'.");
  const Arguments rest{{a.positional.begin() + 1, a.positional.end()}, a.named};
  Items items(rt, in);
  for (Value item; items.next(item) && rt.step();) out.push_back(filter(rt, item, rest));
  return iterator_of(rt, std::move(out));
}

Value choose(Runtime& rt, const Value& in, const Arguments& a, bool keep, bool by_attribute) {
  if (!truthy(in)) return iterator_of(rt, {});
  const size_t skip = by_attribute ? 1 : 0;
  if (a.positional.size() < skip) return rt.fail("Missing parameter for attribute name");
  Test test = nullptr;
  Arguments rest;
  if (a.positional.size() > skip) {
    const std::string name(a.positional[skip].bytes());
    test = find_test(name);
    if (test == nullptr) return rt.fail("No test named '" + name + "'.");
    rest = {{a.positional.begin() + static_cast<ptrdiff_t>(skip) + 1, a.positional.end()}, a.named};
  }
  std::vector<Value> out;
  Items items(rt, in);
  for (Value item; items.next(item) && rt.step();) {
    const Value tested = by_attribute ? get_path(rt, item, a.positional[0]) : item;
    if ((test != nullptr ? test(rt, tested, rest) : truthy(tested)) == keep) out.push_back(item);
  }
  return iterator_of(rt, std::move(out));
}

Value filter_select(Runtime& rt, const Value& in, const Arguments& a) { return choose(rt, in, a, true, false); }
Value filter_reject(Runtime& rt, const Value& in, const Arguments& a) { return choose(rt, in, a, false, false); }
Value filter_selectattr(Runtime& rt, const Value& in, const Arguments& a) { return choose(rt, in, a, true, true); }
Value filter_rejectattr(Runtime& rt, const Value& in, const Arguments& a) { return choose(rt, in, a, false, true); }

constexpr NamedFilter kFilters[] = {{"count", filter_length},
                                    {"dictsort", filter_dictsort},
                                    {"first", filter_first},
                                    {"items", filter_items},
                                    {"join", filter_join},
                                    {"last", filter_last},
                                    {"length", filter_length},
                                    {"list", filter_list},
                                    {"map", filter_map},
                                    {"max", filter_max},
                                    {"min", filter_min},
                                    {"reject", filter_reject},
                                    {"rejectattr", filter_rejectattr},
                                    {"reverse", filter_reverse},
                                    {"select", filter_select},
                                    {"selectattr", filter_selectattr},
                                    {"sort", filter_sort},
                                    {"sum", filter_sum},
                                    {"unique", filter_unique}};

}  // namespace

Filter find_sequence_filter(std::string_view name) noexcept {
  for (const NamedFilter& row : kFilters) {
    if (row.name == name) return row.filter;
  }
  return nullptr;
}

Filter find_filter(std::string_view name) noexcept {
  const Filter filter = find_text_filter(name);
  return filter != nullptr ? filter : find_sequence_filter(name);
}

bool is_unsupported_filter(std::string_view name) noexcept {
  static constexpr std::string_view kNames[] = {"center",    "filesizeformat", "forceescape", "pprint",   "random",
                                                "striptags", "urlencode",      "urlize",      "wordwrap", "xmlattr"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

}  // namespace pagoda::text::jinja
