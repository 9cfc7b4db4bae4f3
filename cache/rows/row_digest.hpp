// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>

#include "cache/lookup/shortlist.hpp"
#include "cache/records.hpp"

namespace kiln {

/// Digests that every row carries: over its whole readable key and payload, names, not row
/// numbers, so that a flipped bit in a referenced row shows too. docs/reference/schema.md fixes the
/// order of the fields. A field added by a later schema enters only when it is set, so that old
/// rows keep their digests.
[[nodiscard]] std::string row_digest(const Trial& trial);
[[nodiscard]] std::string row_digest(const SessionRecord& session);
[[nodiscard]] std::string row_digest(const CandidateKey& attempt, const std::string& session_id);
/// A shortlist's lists as stored, in the order of kListedObjectives.
using ListTexts = std::array<std::string, kListedObjectives.size()>;
[[nodiscard]] std::string row_digest(const Shortlist& shortlist, const ListTexts& lists,
                                     const Problem& problem, const DeviceClass& device);
[[nodiscard]] std::string row_digest(const Family& family, const std::string& kind,
                                     const DeviceClass& device);

}  // namespace kiln
