// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "templates/operation/operation.hpp"

namespace kiln {

/// Digest of what decides whether results of the operation are right. A verdict of one judge says
/// nothing under another, so each trial carries the digest of its judge.
///
/// Of a declared operation everything in its file counts but comments, white space, its purpose and
/// its costs: sizes, fills, rules, `integers`, `independent`, ragged sizes, scalars, and the
/// kernels that judge with every project header they include. Of an operation whose judge is built
/// in, the judge's version.
[[nodiscard]] std::string judge_digest(const Operation& operation);

/// The judge of trials that were stored without a digest, by Kiln before database schema 9; "" if
/// it is not known. A built-in judge had its first version then; outcomes of declared operations
/// were shared between states of their files, so theirs may have come from any of them.
[[nodiscard]] std::string judge_before_digests(std::string_view operation);

/// What the declaration says of the kernels' arguments, in one text: the part of it that template
/// digests cover. How results are judged, what operands are filled with and what they cost is not
/// in it.
[[nodiscard]] std::string kernel_interface(const Operation& operation);

/// C++ code as the compiler sees it, for digests: without comments, `#line`, and the spaces and
/// ends of lines that tokens can do without. Literals stay as they are, and directives on their
/// lines.
[[nodiscard]] std::string code_without_comments(std::string_view code);

}  // namespace kiln
