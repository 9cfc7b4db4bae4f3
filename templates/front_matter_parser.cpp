// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// From the lines of the front matter to a KernelTemplate.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "kiln/error.hpp"
#include "templates/front_matter.hpp"
#include "templates/kernel_template.hpp"
#include "templates/nearest_name.hpp"
#include "templates/template_names.hpp"

namespace kiln {
namespace {

const std::vector<std::string> kKeys{"template", "purpose", "operation", "config", "arch", "types",
                                     "tune",     "let",     "require",   "launch", "grid", "block",
                                     "cluster",  "smem",    "workspace", "cost"};
constexpr std::array<std::string_view, 6> kOnce{"template", "purpose", "operation",
                                                "config",   "arch",    "workspace"};
constexpr std::size_t kMaxDimensions = 3;

/// `name`, or `space::name`.
bool is_qualified_name(std::string_view text) {
  while (true) {
    const auto colons = text.find("::");
    if (!is_identifier(text.substr(0, colons))) return false;
    if (colons == std::string_view::npos) return true;
    text.remove_prefix(colons + 2);
  }
}

/// Where `name` stands in an expression that mentions it.
std::size_t offset_of_name(std::string_view text, std::string_view name) {
  for (auto at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const auto joins = [](char c) {
      return c == '.' || is_identifier(std::string_view(&c, 1)) || (c >= '0' && c <= '9');
    };
    const auto end = at + name.size();
    if ((at == 0 || !joins(text[at - 1])) && (end == text.size() || !joins(text[end]))) return at;
  }
  return 0;
}

}  // namespace

class FrontMatterParser {
 public:
  FrontMatterParser(std::string file, std::string source) {
    result_.file_ = std::move(file);
    result_.source_ = std::move(source);
  }

  KernelTemplate run() {
    lines_ = read_front_matter(result_.file_, result_.source_);
    if (lines_.empty()) fail_file("has no front matter (lines that begin with //@)");
    check_keys();
    read_head();
    // Tunables may be mentioned anywhere, a `let` only below it.
    for_each("tune", [this](const FrontMatterLine& line) {
      result_.tunables_.push_back(parse_tunable(line));
      declare(line, result_.tunables_.back().name);
      if (result_.tunables_.size() > kMostTunables) {
        line.fail_at_key(fmt::format("more than {} tunables", kMostTunables));
      }
    });
    for (const auto& line : lines_) read_line(line);
    check_launches();
    return std::move(result_);
  }

 private:
  [[noreturn]] void fail_file(std::string_view message) const {
    throw Error(ErrorKind::template_, fmt::format("{}:1:1: the template {}; "
                                                  "docs/writing-templates.md has the grammar",
                                                  result_.file_, message));
  }

  template <class Visit>
  void for_each(std::string_view key, const Visit& visit) const {
    for (const auto& line : lines_) {
      if (line.key == key) visit(line);
    }
  }

  const FrontMatterLine* find(std::string_view key) const {
    const auto found = std::find_if(lines_.begin(), lines_.end(),
                                    [&](const FrontMatterLine& line) { return line.key == key; });
    return found == lines_.end() ? nullptr : &*found;
  }

  const FrontMatterLine& need(std::string_view key) const {
    const FrontMatterLine* const line = find(key);
    if (line == nullptr) fail_file(fmt::format("has no \"//@ {}\" line", key));
    return *line;
  }

  void check_keys() const {
    for (const auto& line : lines_) {
      if (std::find(kKeys.begin(), kKeys.end(), line.key) == kKeys.end()) {
        line.fail_at_key(
            fmt::format("unknown key \"{}\"{}", line.key, did_you_mean(line.key, kKeys)));
      }
      if (line.text.empty()) line.fail(0, fmt::format("\"{}\" needs a value", line.key));
      const bool once = std::find(kOnce.begin(), kOnce.end(), line.key) != kOnce.end();
      if (once && find(line.key) != &line) {
        line.fail_at_key(fmt::format("a second \"{}\" line; one is allowed", line.key));
      }
    }
  }

  /// The lines that all others depend on, wherever they stand.
  void read_head() {
    const auto& name = need("template");
    if (!is_identifier(name.text)) {
      name.fail(0, "a template's name consists of letters, digits and underscores");
    }
    result_.name_ = name.text;
    result_.purpose_ = need("purpose").text;

    const auto& operation = need("operation");
    operation_ = find_operation(operation.text);
    if (operation_ == nullptr) {
      std::vector<std::string> known;
      for (const auto& each : operations()) known.push_back(each.name);
      operation.fail(0, fmt::format("unknown operation \"{}\"{}", operation.text,
                                    did_you_mean(operation.text, known)));
    }
    result_.operation_ = operation_->name;
    result_.names_ = problem_names(*operation_);

    const auto& config = need("config");
    if (!is_identifier(config.text)) {
      config.fail(0, "the config struct is named without a namespace: it lies at global scope");
    }
    result_.config_type_ = config.text;
    need("types");
    need("launch");
  }

  /// Gives a name of the template its slot.
  void declare(const FrontMatterLine& line, std::string_view name) {
    if (result_.names_.find(name) >= 0) {
      line.fail(0, fmt::format("\"{}\" already means something in this template", name));
    }
    result_.names_.intern(name);
  }

  /// Parses a part of a line; the place makes errors point into the whole line.
  Expression expression(const FrontMatterLine& line, TextPart part) const {
    auto place = line.text_place;
    place.column += static_cast<int>(part.offset);
    return Expression::parse(part.text, result_.names_, place);
  }

  Expression expression(const FrontMatterLine& line) const {
    return expression(line, {line.text, 0});
  }

  std::vector<Expression> expressions(const FrontMatterLine& line) const {
    std::vector<Expression> list;
    for (const auto& part : split_arguments(line.text)) {
      if (list.size() == kMaxDimensions) {
        line.fail(part.offset, "a launch has at most three dimensions");
      }
      list.push_back(expression(line, part));
    }
    return list;
  }

  /// Lines whose meaning may depend on those above them, in the order of the file.
  void read_line(const FrontMatterLine& line) {
    // Without a problem at hand an architecture is judged by the device alone.
    if (line.key == "arch") {
      result_.arch_ = Expression::parse(line.text, device_names(), line.text_place);
    } else if (line.key == "types") {
      result_.type_rows_.push_back(parse_type_row(line, *operation_));
    } else if (line.key == "let") {
      read_let(line);
    } else if (line.key == "require") {
      result_.requirements_.push_back({expression(line), line.comment});
    } else if (line.key == "workspace") {
      result_.workspace_ = expression(line);
    } else if (line.key == "cost") {
      read_cost(line);
    } else if (line.key == "launch") {
      if (!is_qualified_name(line.text)) line.fail(0, "the name of a kernel is expected");
      result_.launches_.push_back({});
      result_.launches_.back().kernel = line.text;
      result_.launches_.back().line = line.text_place.line;
    } else if (line.key == "grid" || line.key == "block" || line.key == "cluster" ||
               line.key == "smem") {
      read_launch_part(line);
    }
  }

  /// `name = expression`, as the name and the part behind '='.
  static std::pair<std::string_view, TextPart> definition(const FrontMatterLine& line) {
    const std::string_view text = line.text;
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) {
      line.fail(0, fmt::format("a {} is written \"name = expression\"", line.key));
    }
    auto name = text.substr(0, equals);
    name = name.substr(0, name.find_last_not_of(" \t") + 1);
    if (!is_identifier(name)) line.fail(0, "a name is expected before '='");
    const auto begin = std::min(text.find_first_not_of(" \t", equals + 1), text.size());
    return {name, {text.substr(begin), begin}};
  }

  void read_cost(const FrontMatterLine& line) {
    const auto [name, part] = definition(line);
    if (std::find(kCostNames.begin(), kCostNames.end(), name) == kCostNames.end()) {
      const std::vector<std::string> known(kCostNames.begin(), kCostNames.end());
      line.fail(0, fmt::format("unknown cost \"{}\"{}; there are: {}", name,
                               did_you_mean(name, known), fmt::join(known, " ")));
    }
    for (const auto& other : result_.costs_) {
      if (other.name == name) line.fail(0, fmt::format("a second cost \"{}\"", name));
    }
    result_.costs_.push_back(
        {std::string(name), expression(line, part), line.comment, line.text_place.line});
  }

  void read_let(const FrontMatterLine& line) {
    const auto [name, part] = definition(line);
    Expression value = expression(line, part);
    // One cubin serves many sizes; a let is compiled in, and so must not depend on them. Lets above
    // do not either, so looking at the names themselves is enough.
    for (const int slot : value.names_used()) {
      const auto& used = result_.names_.name(slot);
      const auto& sizes = operation_->size_names;
      if (std::find(sizes.begin(), sizes.end(), used) != sizes.end()) {
        line.fail(part.offset + offset_of_name(part.text, used),
                  fmt::format("a let cannot depend on the size \"{}\": it is compiled into the "
                              "kernel, which serves many sizes",
                              used));
      }
    }
    declare(line, name);
    result_.derived_.push_back({std::string(name), std::move(value), line.comment});
  }

  void read_launch_part(const FrontMatterLine& line) {
    if (result_.launches_.empty()) {
      line.fail_at_key(fmt::format("\"{}\" belongs below a \"launch\" line", line.key));
    }
    LaunchSpec& launch = result_.launches_.back();
    if (line.key == "smem") {
      if (launch.smem) line.fail_at_key("a second \"smem\" for this launch");
      launch.smem = expression(line);
      return;
    }
    auto& target = line.key == "grid"    ? launch.grid
                   : line.key == "block" ? launch.block
                                         : launch.cluster;
    if (!target.empty()) {
      line.fail_at_key(fmt::format("a second \"{}\" for this launch", line.key));
    }
    target = expressions(line);
  }

  /// At the end, because the parts of a launch follow its line.
  void check_launches() const {
    std::size_t index = 0;
    for_each("launch", [&](const FrontMatterLine& line) {
      const LaunchSpec& launch = result_.launches_[index++];
      if (launch.grid.empty()) line.fail_at_key("this launch has no \"grid\" line");
      if (launch.block.empty()) line.fail_at_key("this launch has no \"block\" line");
    });
  }

  KernelTemplate result_;
  std::vector<FrontMatterLine> lines_;
  const Operation* operation_ = nullptr;
};

KernelTemplate KernelTemplate::parse(std::string file, std::string source) {
  return FrontMatterParser(std::move(file), std::move(source)).run();
}

}  // namespace kiln
