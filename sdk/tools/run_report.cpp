// SPDX-License-Identifier: Apache-2.0
#include "run_report.h"

#include <algorithm>
#include <cstdio>

#include "json_list.h"

namespace opennrt::tools {

namespace {

// "17", or "17 [1, 1]" in an array of several dimensions.
std::string index_text(std::size_t flat, const Shape& shape) {
  std::string text = std::to_string(flat);
  if (shape.size() < 2) return text;
  std::string inside;
  std::size_t rest = flat;
  for (auto n = shape.rbegin(); n != shape.rend(); ++n) {
    if (*n == 0) return text;
    inside = std::to_string(rest % *n) + (inside.empty() ? "" : ", ") + inside;
    rest /= *n;
  }
  return text + " [" + inside + "]";
}

std::string shape_list(const Shape& shape) {
  JsonList list('[');
  for (const std::uint64_t n : shape) list.add(json_value(n));
  return list.close();
}

std::string json_place(std::size_t index, double value, double reference) {
  return JsonList('{')
      .add("index", json_value(std::uint64_t{index}))
      .add("value", json_value(value))
      .add("reference", json_value(reference))
      .close();
}

// A list with an item on each line.
std::string lines_of(const std::vector<std::string>& items) {
  std::string text = "[";
  const char* separator = "\n  ";
  for (const std::string& item : items) {
    text += separator + item;
    separator = ",\n  ";
  }
  return text + "]";
}

}  // namespace

void RunReport::device(const std::string& arch, int core) {
  arch_ = arch;
  core_ = core;
  if (!json()) std::printf("device  %s\nmodel   %s\n", arch.c_str(), options_.model.c_str());
}

void RunReport::tensor(const std::string& name, const char* dtype, const Shape& shape,
                       std::size_t bytes, const std::string& source) {
  const char* const usage = source.empty() ? "output" : "input";
  if (json()) {
    tensors_.push_back(JsonList('{')
                           .add("usage", json_string(usage))
                           .add("name", json_string(name))
                           .add("dtype", json_string(dtype))
                           .add("shape", shape_list(shape))
                           .add("bytes", json_value(std::uint64_t{bytes}))
                           .add("source", json_text_or_null(source))
                           .close());
    return;
  }
  std::string dimensions;
  for (const std::uint64_t n : shape)
    dimensions += (dimensions.empty() ? "" : ", ") + std::to_string(n);
  std::printf("%-7s %s  %s[%s]  %zu bytes\n", usage, name.c_str(), dtype, dimensions.c_str(),
              bytes);
}

void RunReport::latencies(std::vector<double> microseconds) {
  std::sort(microseconds.begin(), microseconds.end());
  const auto percentile = [&](std::size_t p) {  // nearest rank
    return microseconds[(microseconds.size() * p + 99) / 100 - 1];
  };
  if (json())
    latency_ = JsonList('{')
                   .add("count", json_value(std::uint64_t{microseconds.size()}))
                   .add("min", json_value(microseconds.front()))
                   .add("p50", json_value(percentile(50)))
                   .add("p90", json_value(percentile(90)))
                   .add("p99", json_value(percentile(99)))
                   .add("max", json_value(microseconds.back()))
                   .close();
  else if (microseconds.size() == 1)  // which also makes buffers and wakes threads
    std::printf("latency us: %.1f  (the first execution; --executions times more)\n",
                microseconds.front());
  else
    std::printf("latency us: min %.1f  p50 %.1f  p90 %.1f  p99 %.1f  max %.1f  (%zu executions)\n",
                microseconds.front(), percentile(50), percentile(90), percentile(99),
                microseconds.back(), microseconds.size());
}

void RunReport::output(const std::string& name, const std::string& path) {
  if (json())
    outputs_.push_back(
        JsonList('{').add("name", json_string(name)).add("file", json_string(path)).close());
  else
    std::printf("wrote   %s\n", path.c_str());
}

void RunReport::dump(const DumpRequest& dump, const std::string& path, const std::string& reason) {
  if (json())
    dumps_.push_back(JsonList('{')
                         .add("name", json_string(dump.name))
                         .add("break", json_string(dump.at))
                         .add("dump", json_string(dump.what))
                         .add("file", json_text_or_null(path))
                         .add("reason", json_text_or_null(reason))
                         .close());
  else if (!path.empty())
    std::printf("wrote   %s\n", path.c_str());
  if (path.empty())
    std::fprintf(stderr, "opennrt run: --break=%s --dump=%s: %s\n", dump.at.c_str(),
                 dump.what.c_str(), reason.c_str());
}

void RunReport::comparison(const CompareRequest& request, const Tolerance& tolerance,
                           const Comparison& c, const Shape* shape) {
  if (json()) {
    const bool match = c.mismatches == 0;
    comparisons_.push_back(
        JsonList('{')
            .add("name", json_string(request.name))
            .add("file", json_string(request.file))
            .add("match", match ? "true" : "false")
            .add("elements", json_value(std::uint64_t{c.elements}))
            .add("mismatches", json_value(std::uint64_t{c.mismatches}))
            .add("non_finite_mismatches", json_value(std::uint64_t{c.nan_mismatches}))
            .add("rtol", json_value(tolerance.rtol))
            .add("atol", json_value(tolerance.atol))
            .add("max_abs_error", json_value(c.max_absolute))
            .add("max_rel_error", json_value(c.max_relative))
            .add("first", match ? "null" : json_place(c.first, c.first_value, c.first_reference))
            .add("worst", match ? "null" : json_place(c.worst, c.worst_value, c.worst_reference))
            .close());
    return;
  }
  const Shape places = shape != nullptr ? *shape : Shape();
  std::printf(
      "compare %s: %s, %zu of %zu elements differ (rtol %g, atol %g); max abs error %g, "
      "max rel error %g",
      request.name.c_str(), c.mismatches == 0 ? "match" : "MISMATCH", c.mismatches, c.elements,
      tolerance.rtol, tolerance.atol, c.max_absolute, c.max_relative);
  if (c.nan_mismatches != 0)
    std::printf("; %zu with NaN or infinity on one side only", c.nan_mismatches);
  if (c.mismatches != 0)
    std::printf("\n  first at %s: %.9g, reference %.9g\n  worst at %s: %.9g, reference %.9g",
                index_text(c.first, places).c_str(), c.first_value, c.first_reference,
                index_text(c.worst, places).c_str(), c.worst_value, c.worst_reference);
  std::printf("\n");
}

void RunReport::findings(std::size_t count) {
  verify_ = JsonList('{')
                .add("checks", json_string(options_.verify.value_or("")))
                .add("findings", json_value(std::uint64_t{count}))
                .close();
  if (json()) return;
  if (count == 0)
    std::printf("verify: no findings\n");
  else
    std::printf("verify: %zu finding%s (see the log)\n", count, count == 1 ? "" : "s");
}

void RunReport::error(const std::string& text) {
  std::fprintf(stderr, "opennrt run: %s\n", text.c_str());
  if (error_.empty()) error_ = text;
}

std::string RunReport::document(bool good) const {
  return "{\"good\": " + std::string(good ? "true" : "false") +
         ", \"error\": " + json_text_or_null(error_) +
         ",\n \"device\": " + json_text_or_null(arch_) +
         ", \"product\": " + json_text_or_null(product_) +
         ", \"core\": " + (core_ ? std::to_string(*core_) : "null") +
         ",\n \"model\": " + json_string(options_.model) +
         ",\n \"tensors\": " + lines_of(tensors_) + ",\n \"latency_us\": " + latency_ +
         ",\n \"outputs\": " + lines_of(outputs_) + ",\n \"dumps\": " + lines_of(dumps_) +
         ",\n \"comparisons\": " + lines_of(comparisons_) + ",\n \"verify\": " + verify_ + "}\n";
}

}  // namespace opennrt::tools
