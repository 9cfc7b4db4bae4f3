// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// From the lines of the front matter to the parts of a KernelTemplate.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>

#include "kiln/error.hpp"
#include "templates/check/macro_redefinition.hpp"
#include "templates/check/misspelt_tunable.hpp"
#include "templates/check/texture_check.hpp"
#include "templates/front_matter/compile_line.hpp"
#include "templates/front_matter/constant_line.hpp"
#include "templates/front_matter/cost_line.hpp"
#include "templates/front_matter/declaration_check.hpp"
#include "templates/front_matter/fragments.hpp"
#include "templates/front_matter/front_matter.hpp"
#include "templates/front_matter/hints.hpp"
#include "templates/front_matter/launch_lines.hpp"
#include "templates/front_matter/repeat_line.hpp"
#include "templates/front_matter/scratch_line.hpp"
#include "templates/front_matter/tune_line.hpp"
#include "templates/front_matter/usual_line.hpp"
#include "templates/kernel_template.hpp"
#include "templates/launch/launch_plan.hpp"
#include "templates/nearest_name.hpp"
#include "templates/operation/typed_operation.hpp"
#include "templates/render/code_scanner.hpp"
#include "templates/render/kernel_name.hpp"
#include "templates/render/value_macros.hpp"
#include "templates/source_error.hpp"
#include "templates/space/space_program.hpp"
#include "templates/template_names.hpp"
#include "templates/text_pieces.hpp"

namespace kiln {
namespace {

constexpr std::array<std::string_view, 9> kOnce{"template", "purpose",   "operation",
                                                "config",   "at",        "arch",
                                                "priority", "workspace", "epilogue"};

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The offset of `name` in an expression that mentions it.
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
    parts_.about.file = std::move(file);
    parts_.about.source = std::move(source);
  }

  TemplateParts run(const KernelTemplate::Hints& hints,
                    const KernelTemplate::FragmentSearch& search) {
    lines_ = read_front_matter(parts_.about.file, parts_.about.source);
    if (lines_.empty()) fail_file("has no front matter (lines that begin with //@)");
    fragments_ = insert_fragments(lines_, parts_.about.source, search);
    std::ranges::move(read_hints(hints, parts_.about.file), std::back_inserter(lines_));
    name_macros();
    name_host_values();
    check_keys();
    read_head();
    read_tunables();
    if (has_macros_) refuse_misspelt_tunables(parts_.about.source, lines_);
    read_lets();
    guide_names_ = launch_names_ = parts_.space.names;
    if (const FrontMatterLine* const line = find("repeat")) {
      launch_names_ = names_with_repeat(*line, parts_.space.names, parts_.run);
    }
    for_each("scratch", [this](const FrontMatterLine& line) {
      add_scratch(line, *operation_, parts_.space.names, parts_.run.scratch);
    });
    for (const auto& line : lines_) read_line(line);
    check_structs();
    finish_types();
    finish_launches();
    parts_.space.layout = std::make_shared<const SpaceLayout>(
        guide_names_, parts_.space.tunables, parts_.space.derived, parts_.space.requirements,
        parts_.space.preferences, values_of(parts_.space.preferences, parts_.run.costs),
        operation_->is_declared() && !gives_option(parts_.compile, kRouteOption));
    find_slots(parts_.config_struct);
    find_slots(parts_.launch_struct);
    return std::move(parts_);
  }

 private:
  [[noreturn]] void fail_file(std::string_view message) const {
    throw Error(ErrorKind::template_,
                fmt::format("{}:1:1: the template {}; see docs/reference/templates.md",
                            parts_.about.file, message));
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
    if (line == nullptr) {
      fail_file(key == "config" ? "marks no config struct; mark the struct where you declare it: "
                                  "struct Name {  //@ config"
                                : fmt::format("has no \"//@ {}\" line", key));
    }
    return *line;
  }

  /// Without a config struct `tune name = ...` and `let name = ...` are lines of their own, which
  /// from here on look like those of a field. Kernels of an operation that has no reference always
  /// have that struct.
  void name_macros() {
    if (const auto* const line = find("operation")) operation_ = find_operation(line->text);
    has_macros_ = find("config") == nullptr && (operation_ == nullptr || operation_->is_declared());
    if (!has_macros_) return;
    for (auto& line : lines_) {
      if ((line.key != "tune" && line.key != "let") || line.is_declaration()) continue;
      const auto [name, part] = name_and_value(line);
      line.declaration = {std::string(kMacro), std::string(name), "", line.text_place};
      line.text_place = line.text_place.at(part.offset);
      line.text = std::string(part.text);
    }
  }

  /// Beside a config struct `let name = ...` is a line of its own, too: a value that only the front
  /// matter knows. It may depend on sizes, and takes 64 bits.
  void name_host_values() {
    if (has_macros_) return;
    for (auto& line : lines_) {
      if (line.key != "let" || line.is_declaration()) continue;
      const auto [name, part] = name_and_value(line);
      line.declaration = {std::string(kHostValue), std::string(name), "", line.text_place};
      line.text_place = line.text_place.at(part.offset);
      line.text = std::string(part.text);
    }
  }

  void check_keys() const {
    const auto& keys = template_keys();
    for (const auto& line : lines_) {
      if (std::find(keys.begin(), keys.end(), line.key) == keys.end()) {
        line.fail_at_key(
            fmt::format("unknown key \"{}\"{}", line.key, did_you_mean(line.key, keys)));
      }
      check_declaration(line);
      const bool needs_text = line.key != "config" && line.key != "cooperative";
      if (needs_text && line.text.empty()) {
        line.fail(0, fmt::format("\"{}\" needs a value", line.key));
      }
      const bool once = std::find(kOnce.begin(), kOnce.end(), line.key) != kOnce.end();
      if (once && find(line.key) != &line) {
        line.fail_at_key(
            fmt::format("the template has two \"{}\" lines; remove one of them", line.key));
      }
    }
  }

  /// The lines that all others depend on, wherever they are.
  void read_head() {
    const auto& name = need("template");
    if (!is_identifier(name.text)) {
      name.fail(0, "a template's name consists of letters, digits and underscores");
    }
    parts_.about.name = name.text;
    parts_.about.purpose = need("purpose").text;

    const auto& operation = need("operation");
    if (operation_ == nullptr) {
      std::vector<std::string> known;
      for (const Operation* each : operations()) known.push_back(each->name);
      operation.fail(0, fmt::format("unknown operation \"{}\"{}", operation.text,
                                    did_you_mean(operation.text, known)));
    }
    parts_.about.operation = operation_->name;
    parts_.space.names = problem_names(*operation_);

    if (!has_macros_) parts_.config_struct.type = need("config").declaration.name;
    for_each("at", [this](const FrontMatterLine& line) {
      parts_.launch_struct.type = line.declaration.name;
      if (line.declaration.name == parts_.config_struct.type) {
        line.fail_at_key(
            "the config struct cannot also be the \"at launch\" struct; declare a second struct");
      }
    });
    find_bases();
    need("launch");
  }

  void find_bases() {
    if (const auto* const line = find("config")) {
      config_bases_ = bases_of(line->declaration, false, fragments_);
    }
    if (const auto* const line = find("at")) {
      launch_bases_ = bases_of(line->declaration, true, fragments_);
    }
    for (const FragmentStruct& fragment : fragments_) {
      if (find(fragment.is_at_launch ? "at" : "config") != nullptr) continue;
      fragment.use.fail(
          0, fmt::format("the header {2} declares the struct {0}, but no struct of the template "
                         "derives from {0}. Next: declare struct Name : {0} {{  //@ {1}",
                         fragment.name, fragment.is_at_launch ? "at launch" : "config",
                         fragment.use.text));
    }
  }

  [[nodiscard]] bool is_at_launch(const Declaration& field) const {
    if (field.owner.empty()) return false;
    const auto base = std::ranges::find(fragments_, field.owner, &FragmentStruct::name);
    return base != fragments_.end() ? base->is_at_launch : field.owner == parts_.launch_struct.type;
  }

  /// Whether the name means something between the angle brackets of a launch or in its arguments,
  /// though expressions do not know it.
  [[nodiscard]] bool is_of_arguments(std::string_view name) const {
    return operation_->is_declared() &&
           (name == "workspace" || contains(operation_->type_slots(), name) ||
            std::any_of(operation_->scalars.begin(), operation_->scalars.end(),
                        [&](const ScalarSpec& scalar) { return scalar.name == name; }));
  }

  /// Gives the name of a field its slot.
  void declare(const FrontMatterLine& line) {
    const Declaration& field = line.declaration;
    if (parts_.space.names.find(field.name) >= 0 || is_of_arguments(field.name)) {
      throw_at(field.place, field.name, 0,
               fmt::format("the name \"{}\" is already used in this template", field.name));
    }
    parts_.space.names.intern(field.name);
    if (is_at_launch(field)) {
      if (field.type != "int") {
        throw_at(field.place, field.name, 0,
                 "the fields of an \"at launch\" struct must have the type int");
      }
    }
    if (is_at_launch(field) || field.type == kHostValue) not_compiled_.push_back(field.name);
    fields_.emplace(field.name, field.type);
  }

  Expression expression(const FrontMatterLine& line) const {
    return Expression::parse(line.text, parts_.space.names, line.text_place);
  }

  /// Lines whose meaning may depend on those above them, in the order of the file.
  void read_line(const FrontMatterLine& line) {
    // Without a problem, an architecture is judged by the device only.
    if (line.key == "arch") {
      parts_.support.arch = Expression::parse(line.text, device_names(), line.text_place);
    } else if (line.key == "types") {
      parts_.support.type_rows.push_back(parse_type_row(line, *operation_));
    } else if (line.key == "require") {
      parts_.space.requirements.push_back({expression(line), line.comment});
    } else if (line.key == "prefer") {
      parts_.space.preferences.push_back(
          {Expression::parse(line.text, guide_names_, line.text_place), line.comment});
    } else if (line.key == "usual") {
      std::ranges::move(usual_configs(line, parts_.space.tunables),
                        std::back_inserter(parts_.space.usual));
    } else if (line.key == "include") {
      parts_.about.includes.push_back({line.text, line.key_place.line});
    } else if (line.key == "priority") {
      // Before a configuration is chosen.
      parts_.support.priority =
          Expression::parse(line.text, problem_names(*operation_), line.text_place);
    } else if (line.key == "workspace") {
      parts_.run.workspace = expression(line);
    } else if (line.key == "epilogue") {
      if (operation_->is_declared()) {
        line.fail_at_key(
            fmt::format("kernels of {} cannot have epilogues; remove this line", operation_->name));
      }
      if (line.text != "yes") line.fail(0, "write \"epilogue yes\", or remove this line");
      parts_.support.takes_epilogue = true;
    } else if (line.key == "constant") {
      read_constant(line);
    } else if (line.key == "compile") {
      const auto is_late = [this](auto name) {
        return is_size(name) || contains(not_compiled_, name);
      };
      add_compile_line(line, parts_.space.names, is_late, parts_.compile);
    } else if (line.key == "cost") {
      read_cost_line(line, guide_names_, parts_.run.costs);
    } else if (line.key == "launch") {
      read_launch(line);
    } else if (is_launch_part(line.key)) {
      read_launch_part(line);
    }
  }

  void read_constant(const FrontMatterLine& line) {
    if (!operation_->is_declared()) {
      line.fail_at_key(
          fmt::format("a \"constant\" line is not possible here, because kernels of {} get all "
                      "operands in one struct; remove this line",
                      operation_->name));
    }
    add_constant(line, *operation_, parts_.about.source, parts_.run.constants);
  }

  /// The template's own before those of headers, and what is known only at launch last. Counting a
  /// space is fast where requirements mention neighbours, which authors arrange.
  void read_tunables() {
    for (const bool at_launch : {false, true}) {
      for (const bool of_header : {false, true}) {
        for_each("tune", [&](const FrontMatterLine& line) {
          const bool is_of_header = line.key_place.file != parts_.about.file;
          if (is_at_launch(line.declaration) != at_launch || is_of_header != of_header) return;
          read_tunable(line);
        });
      }
    }
  }

  void read_tunable(const FrontMatterLine& line) {
    parts_.space.tunables.push_back(parse_tunable(line));
    declare(line);
    parts_.space.names.set_values(parts_.space.names.find(line.declaration.name),
                                  parts_.space.tunables.back().values);
    if (parts_.space.tunables.size() > kMostTunables) {
      line.fail_at_key(
          fmt::format("the template has too many tunables; the limit is {}", kMostTunables));
    }
  }

  /// Lets may stand in any order; each is kept behind those that it mentions.
  void read_lets() {
    for_each("let", [this](const FrontMatterLine& line) { declare(line); });
    std::vector<Let> lets;
    std::map<int, Let*> by_slot;
    for_each("let", [&](const FrontMatterLine& line) {
      Expression value = expression(line);
      if (!is_at_launch(line.declaration) && line.declaration.type != kHostValue) {
        check_compiled(line, value);
      }
      lets.push_back({&line, std::move(value)});
    });
    for (Let& let : lets) by_slot[parts_.space.names.find(let.line->declaration.name)] = &let;
    for (Let& let : lets) place_let(let, by_slot);
  }

  struct Let {
    const FrontMatterLine* line;
    Expression value;
    enum class State { read, open, placed } state = State::read;
  };

  void place_let(Let& let, const std::map<int, Let*>& by_slot) {
    if (let.state == Let::State::placed) return;
    const std::string& name = let.line->declaration.name;
    let.state = Let::State::open;
    for (const int slot : let.value.names_used()) {
      const auto found = by_slot.find(slot);
      if (found == by_slot.end()) continue;
      if (found->second->state == Let::State::open) {
        const std::string& used = parts_.space.names.name(slot);
        let.line->fail(offset_of_name(let.line->text, used),
                       fmt::format("these \"let\" lines form a cycle: \"{0}\" depends on \"{1}\", "
                                   "and \"{1}\" depends on \"{0}\"; remove one dependency",
                                   name, used));
      }
      place_let(*found->second, by_slot);
    }
    let.state = Let::State::placed;
    parts_.space.derived.push_back({name, std::move(let.value), let.line->comment});
  }

  /// Of a problem, or derived from one; a derived size may also be a constant.
  [[nodiscard]] bool is_size(std::string_view name) const {
    if (contains(operation_->size_names(), name)) return true;
    const auto derived =
        std::ranges::find(operation_->derived, name, &std::pair<std::string, Expression>::first);
    if (derived == operation_->derived.end()) return false;
    const auto slots = derived->second.names_used();
    return std::any_of(slots.begin(), slots.end(),
                       [this](int slot) { return is_size(operation_->names().name(slot)); });
  }

  /// One cubin serves many sizes and launches; a let of the config is compiled in, and so must not
  /// depend on them. Lets above it do not either, so checking the names it mentions is enough.
  void check_compiled(const FrontMatterLine& line, const Expression& value) const {
    for (const int slot : value.names_used()) {
      const auto& used = parts_.space.names.name(slot);
      if (!is_size(used) && !contains(not_compiled_, used)) continue;
      line.fail(offset_of_name(line.text, used),
                fmt::format("this \"let\" value is compiled into the kernel, so it cannot use "
                            "{}\"{}\", which is known only at launch. Next: pass the value to the "
                            "kernel at launch instead",
                            is_size(used) ? "the size " : "", used));
    }
  }

  void read_launch(const FrontMatterLine& line) {
    const KernelName kernel = parse_kernel_name(line);
    LaunchSpec launch;
    launch.kernel = kernel.name;
    launch.line = line.text_place.line;
    if (const auto& arguments = kernel.template_arguments) {
      for (const auto& [name, offset] : free_names(arguments->text)) {
        if (!is_size(name) && !contains(not_compiled_, name)) continue;
        line.fail(arguments->offset + offset,
                  fmt::format("\"{}\" is known only at launch, but template arguments are compiled "
                              "into the kernel; pass the value in \"args\"",
                              name));
      }
      launch.template_arguments = arguments->text;
    }
    parts_.run.launches.push_back(std::move(launch));
    args_lines_.push_back(nullptr);
  }

  /// What kernels are given in place of the one struct of a typed operation.
  void read_args(const FrontMatterLine& line) {
    if (!operation_->is_declared()) {
      line.fail_at_key(
          fmt::format("an \"args\" line is not possible here, because all kernels of {} get the "
                      "same struct; remove this line",
                      operation_->name));
    }
    if (args_lines_.back() != nullptr)
      line.fail_at_key("this launch has two \"args\" lines; remove one of them");
    args_lines_.back() = &line;
    parts_.run.launches.back().args_line = line.text_place.line;
    parts_.run.launches.back().args = parse_argument_list(line, *operation_, launch_names_,
                                                          ArgumentsOf::kernel, parts_.run.scratch);
  }

  void read_launch_part(const FrontMatterLine& line) {
    if (parts_.run.launches.empty()) {
      line.fail_at_key(fmt::format("\"{}\" belongs below a \"launch\" line", line.key));
    }
    if (line.key == "args") return read_args(line);
    add_launch_part(line, *operation_, launch_names_, parts_.run.launches.back());
  }

  /// Every field has a value that Kiln knows, since it fills in the struct.
  void check_structs() {
    check_struct("config", parts_.config_struct.fields);
    for (const auto& line : lines_) {
      if (line.declaration.type != kMacro) continue;
      const bool is_let = line.key == "let";
      parts_.config_struct.fields.push_back(
          {.name = line.declaration.name, .type = is_let ? "int" : std::string(kMacro)});
    }
    check_struct("at", parts_.launch_struct.fields);
    if (parts_.launch_struct.fields.size() > kMostLaunchValues) {
      find("at")->fail_at_key(fmt::format(
          "the \"at launch\" struct has too many fields; the limit is {}", kMostLaunchValues));
    }
  }

  void check_struct(std::string_view key, std::vector<ConfigField>& fields) {
    const FrontMatterLine* const line = find(key);
    if (line == nullptr) return;
    for (const auto* base : key == "at" ? launch_bases_ : config_bases_) {
      add_fields(*line, base->fields, base->name, fields);
    }
    const auto scanned = find_struct(parts_.about.source, line->declaration.name);
    if (!scanned) {
      throw_at(line->declaration.place, line->declaration.name, 0,
               fmt::format("the struct {} has no closing '}}'", line->declaration.name));
    }
    add_fields(*line, scanned->fields, "", fields);
  }

  void add_fields(const FrontMatterLine& line, const std::vector<std::string>& names,
                  const std::string& base, std::vector<ConfigField>& fields) const {
    for (const auto& name : names) {
      const auto known = fields_.find(name);
      if (known == fields_.end()) {
        throw_at(
            line.declaration.place, line.declaration.name, 0,
            fmt::format("the field \"{0}\" of {1} has no value; write \"//@ tune ...\" or \"//@ "
                        "let ...\" after \"int {0};\", or make the field static constexpr",
                        name, base.empty() ? line.declaration.name : base));
      }
      fields.push_back({.name = name, .type = known->second, .base = base});
    }
  }

  void find_slots(StructSpec& spec) const {
    for (ConfigField& field : spec.fields) field.slot = parts_.space.names.find(field.name);
  }

  /// Without a `types` line, any combination of the types that the operation lists.
  void finish_types() {
    if (find("types") != nullptr) return;
    TypeRow row;
    for (std::size_t i = 0; i < operation_->type_slots().size(); ++i) {
      if (operation_->slots[i].types.empty()) need("types");
      row.slots.push_back({operation_->type_slots()[i], operation_->slots[i].types, {}});
    }
    parts_.support.type_rows.push_back(std::move(row));
  }

  /// At the end, because the parts of a launch follow its line.
  void finish_launches() {
    std::size_t index = 0;
    for_each("launch", [&](const FrontMatterLine& line) {
      LaunchSpec& launch = parts_.run.launches[index];
      const FrontMatterLine* const args = args_lines_[index++];
      if (launch.grid.empty()) line.fail_at_key("this launch has no \"grid\" line");
      if (launch.block.empty()) line.fail_at_key("this launch has no \"block\" line");
      check_macros(line, launch);
      if (!operation_->is_declared()) return;
      if (args == nullptr) {
        launch.args = default_kernel_arguments(*operation_, parts_.space.names, parts_.run);
      }
      if (passes_workspace(launch.args) && !parts_.run.workspace) {
        args->fail(args->text.find("workspace"),
                   "the template has no workspace; add a line \"workspace BYTES\"");
      }
      if (parts_.launch_struct.fields.empty()) return;
      launch.args.push_back(struct_at_launch(parts_.launch_struct, parts_.space.names));
    });
    check_repeats(lines_, parts_.run.launches);
    for_each("scratch", [this](const FrontMatterLine& line) {
      check_scratch_is_used(line, parts_.run.launches);
    });
  }

  /// A macro would replace the kernel's name where it is defined.
  void check_macros(const FrontMatterLine& line, const LaunchSpec& launch) const {
    if (!has_macros_) return;
    const auto at = launch.kernel.rfind(':');
    const std::string plain =
        at == std::string::npos ? launch.kernel : launch.kernel.substr(at + 1);
    if (fields_.contains(plain) && !contains(not_compiled_, plain)) {
      line.fail(
          0, fmt::format("\"{}\" is the name of both a kernel and a macro; rename one of the two",
                         plain));
    }
  }

  TemplateParts parts_;
  NameTable guide_names_;   ///< those of the template, and of `cost let` lines
  NameTable launch_names_;  ///< those of the template, and what repeated launches have
  std::vector<FrontMatterLine> lines_;
  const Operation* operation_ = nullptr;
  bool has_macros_ = false;                         ///< in place of a config struct
  std::vector<const FrontMatterLine*> args_lines_;  ///< by launch; null: it has none
  std::map<std::string, std::string> fields_;       ///< of both structs, with their types
  std::vector<std::string> not_compiled_;  ///< fields at launch, and values of the front matter
  std::vector<FragmentStruct> fragments_;
  std::vector<const FragmentStruct*> config_bases_;
  std::vector<const FragmentStruct*> launch_bases_;
};

KernelTemplate KernelTemplate::parse(std::string file, std::string source, const Hints& hints,
                                     const FragmentSearch& fragments) {
  KernelTemplate result(
      FrontMatterParser(std::move(file), std::move(source)).run(hints, fragments));
  if (result.config_struct().type.empty()) {
    refuse_redefinitions(result.file(), result.source(), result.macros());
    refuse_unknown_values(result.file(), result.source(), result.space_spec().tunables,
                          result.macros());
  }
  for (const LaunchSpec& launch : result.launches()) {
    refuse_textures(result.file(), result.source(), launch.kernel);
  }
  return result;
}

}  // namespace kiln
