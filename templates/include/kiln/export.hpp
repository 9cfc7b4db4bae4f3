// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Marks the symbols that the shared library exports. All other symbols are hidden.
#define KILN_API __attribute__((visibility("default")))
