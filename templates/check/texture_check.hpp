// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace kiln {

/// Throws Error(template_) that points at the parameter if a kernel of the source takes a texture
/// or a surface: nothing that Kiln has could be given for one. `kernel` may have its namespaces.
void refuse_textures(const std::string& file, std::string_view source, std::string_view kernel);

/// What to do instead, for a parameter of that type: "is not supported: ...".
[[nodiscard]] std::string texture_advice(std::string_view type);

}  // namespace kiln
