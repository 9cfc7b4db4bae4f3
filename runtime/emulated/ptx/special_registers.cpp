// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/ptx/special_registers.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace kiln::ptx {
namespace {

using Place = ThreadPlace;
using Index = std::size_t;

/// As many as compute capability 9.0 has.
constexpr std::uint32_t kWarpsOfMultiprocessor = 64;

std::uint32_t bit(const Place& place) {
  return std::uint32_t{1} << place.laneid;
}

std::uint32_t smid(const Place& place, Index) {
  const std::uint64_t flat =
      place.ctaid[0] + std::uint64_t{place.nctaid[0]} *
                           (place.ctaid[1] + std::uint64_t{place.nctaid[1]} * place.ctaid[2]);
  return static_cast<std::uint32_t>(flat % place.nsmid);
}

std::uint32_t blocks_of_cluster(const Place& place) {
  return place.cluster_nctaid[0] * place.cluster_nctaid[1] * place.cluster_nctaid[2];
}

constexpr SpecialRegister kSpecials[] = {
    {"tid", [](const Place& at, Index i) { return at.tid[i]; }, true},
    {"ntid", [](const Place& at, Index i) { return at.ntid[i]; }, true},
    {"ctaid", [](const Place& at, Index i) { return at.ctaid[i]; }, true},
    {"nctaid", [](const Place& at, Index i) { return at.nctaid[i]; }, true},
    {"clusterid", [](const Place& at, Index i) { return at.ctaid[i] / at.cluster_nctaid[i]; },
     true},
    {"nclusterid", [](const Place& at, Index i) { return at.nctaid[i] / at.cluster_nctaid[i]; },
     true},
    {"cluster_ctaid", [](const Place& at, Index i) { return at.ctaid[i] % at.cluster_nctaid[i]; },
     true},
    {"cluster_nctaid", [](const Place& at, Index i) { return at.cluster_nctaid[i]; }, true},
    {"cluster_ctarank", [](const Place& at, Index) { return at.cluster_ctarank; }},
    {"cluster_nctarank", [](const Place& at, Index) { return blocks_of_cluster(at); }},
    {"is_explicit_cluster",
     [](const Place& at, Index) { return std::uint32_t{blocks_of_cluster(at) > 1}; }},
    {"laneid", [](const Place& at, Index) { return at.laneid; }},
    {"warpid", [](const Place& at, Index) { return at.warpid; }},
    {"nwarpid", [](const Place&, Index) { return kWarpsOfMultiprocessor; }},
    {"smid", &smid},
    {"nsmid", [](const Place& at, Index) { return at.nsmid; }},
    {"gridid", [](const Place&, Index) { return std::uint32_t{1}; }},
    {"lanemask_eq", [](const Place& at, Index) { return bit(at); }},
    {"lanemask_lt", [](const Place& at, Index) { return bit(at) - 1; }},
    {"lanemask_le", [](const Place& at, Index) { return bit(at) | (bit(at) - 1); }},
    {"lanemask_gt", [](const Place& at, Index) { return ~(bit(at) | (bit(at) - 1)); }},
    {"lanemask_ge", [](const Place& at, Index) { return ~(bit(at) - 1); }},
    {"dynamic_smem_size", [](const Place& at, Index) { return at.dynamic_smem_bytes; }},
    {"total_smem_size", [](const Place& at, Index) { return at.smem_bytes; }},
    {"aggr_smem_size", [](const Place& at, Index) { return at.smem_bytes + at.system_smem_bytes; }},
    {.name = "clock", .clock = Clock::low},
    {.name = "clock_hi", .clock = Clock::high},
    {.name = "clock64", .clock = Clock::whole},
    {.name = "globaltimer", .clock = Clock::whole},
    {.name = "globaltimer_lo", .clock = Clock::low},
    {.name = "globaltimer_hi", .clock = Clock::high},
    {.name = "current_graph_exec"},
    // What a driver says there of a cooperative launch, for grid_group of cooperative groups.
    {"envreg1",
     [](const Place& at, Index) { return static_cast<std::uint32_t>(at.grid_workspace >> 32U); }},
    {"envreg2",
     [](const Place& at, Index) { return static_cast<std::uint32_t>(at.grid_workspace); }},
    {.name = "envreg", .count = 32},
    {.name = "pm", .count = 8},
    {.name = "pm", .count = 8, .ending = "_64"},
    {.name = "reserved_smem_offset_", .count = 2},
    {.name = "reserved_smem_offset_begin"},
    {.name = "reserved_smem_offset_end"},
    {.name = "reserved_smem_offset_cap"},
};

/// Whether it is one of NAME0 to NAME<count - 1> with the ending.
bool is_numbered(std::string_view name, const SpecialRegister& entry) {
  if (!name.starts_with(entry.name) || !name.ends_with(entry.ending) ||
      name.size() <= entry.name.size() + entry.ending.size()) {
    return false;
  }
  name.remove_prefix(entry.name.size());
  name.remove_suffix(entry.ending.size());
  int number = 0;
  const char* const end = name.data() + name.size();
  const auto parsed = std::from_chars(name.data(), end, number);
  return parsed.ec == std::errc{} && parsed.ptr == end && number >= 0 && number < entry.count &&
         (name == "0" || name.front() != '0');
}

}  // namespace

const SpecialRegister* find_special(std::string_view name) {
  const auto* const found =
      std::find_if(std::begin(kSpecials), std::end(kSpecials), [&](const SpecialRegister& entry) {
        return entry.count > 0 ? is_numbered(name, entry) : name == entry.name;
      });
  return found == std::end(kSpecials) ? nullptr : found;
}

std::optional<SpecialUse> special_of(std::string_view operand) {
  if (!operand.starts_with('%')) return std::nullopt;
  operand.remove_prefix(1);
  const std::size_t dot = operand.find('.');
  const SpecialRegister* const special = find_special(operand.substr(0, dot));
  if (special == nullptr || special->is_vector != (dot != std::string_view::npos))
    return std::nullopt;
  if (!special->is_vector) return SpecialUse{special, 0};
  const std::size_t component = std::string_view("xyz").find(operand.substr(dot + 1));
  if (component == std::string_view::npos || operand.size() != dot + 2) return std::nullopt;
  return SpecialUse{special, component};
}

}  // namespace kiln::ptx
