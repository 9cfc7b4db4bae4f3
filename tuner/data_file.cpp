// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/data_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "kiln/error.hpp"
#include "templates/digest.hpp"
#include "templates/nearest_name.hpp"
#include "tuner/npy.hpp"

namespace kiln {
namespace {

constexpr std::int64_t kPieceBytes = 16 << 20;
constexpr int kGapByte = 0xff;

[[noreturn]] void refuse_data(const std::string& path, std::string_view why) {
  throw Error(ErrorKind::usage, fmt::format("{}: {}", path, why));
}

/// A regular file that is open for reading.
class InputFile {
 public:
  explicit InputFile(const std::string& path) : path_(path) {
    // A pipe that nobody writes would be waited for without end.
    file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file_ < 0) refuse("cannot be opened");
    struct stat status {};
    if (::fstat(file_, &status) != 0) refuse("cannot be read");
    if (!S_ISREG(status.st_mode)) {
      ::close(file_);
      refuse_data(path, "this is no regular file, so it cannot have the data of an operand");
    }
    bytes_ = status.st_size;
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile() { ::close(file_); }

  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  /// As many bytes as there are, up to `count`.
  [[nodiscard]] std::int64_t read(void* to, std::int64_t count, std::int64_t offset) const {
    std::int64_t done = 0;
    while (done < count) {
      const auto got = ::pread(file_, static_cast<char*>(to) + done,
                               static_cast<std::size_t>(count - done), offset + done);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) refuse("cannot be read");
      if (got == 0) break;
      done += got;
    }
    return done;
  }

 private:
  [[noreturn]] void refuse(std::string_view what) const {
    refuse_data(path_, fmt::format("this file {}: {}", what,
                                   std::error_code(errno, std::generic_category()).message()));
  }

  const std::string& path_;
  int file_ = -1;
  std::int64_t bytes_ = 0;
};

std::vector<std::int64_t> extents_of(const OperandSpec& operand, const Operation& operation,
                                     const Problem& problem) {
  const auto values = operation.whole_values(problem);
  std::vector<std::int64_t> extents;
  for (const Expression& extent : operand.extents) {
    extents.push_back(extent.evaluate(values).value());
  }
  return extents;
}

/// What is wrong with a file's data, and for what.
std::string wanted_text(const OperandSpec& operand, const Problem& problem,
                        const std::vector<std::int64_t>& extents) {
  return fmt::format("the operand {} of the problem {} has the shape {}", operand.name,
                     problem.sizes_text(), shape_text(extents));
}

/// Where the elements begin.
std::int64_t check_npy(const std::string& path, std::string_view head, const Operation& operation,
                       const OperandSpec& operand, const ProblemCase& one) {
  const NpyHeader header = parse_npy(path, head);
  const DType type = *one.problem.type(operand.name);
  if (!is_type_of(header.type, type)) {
    refuse_data(path, fmt::format("the elements have the type {}, but the operand {} has the type "
                                  "{} ({}). Next: save array.astype('{}'), or choose another type "
                                  "for {}",
                                  header.type, operand.name, to_string(type), npy_type_of(type),
                                  npy_type_of(type), operand.name));
  }
  const auto extents = extents_of(operand, operation, one.problem);
  if (header.shape != extents) {
    refuse_data(path,
                fmt::format("the array has the shape {}, but {}. Next: choose the sizes of "
                            "this array, or another file",
                            shape_text(header.shape), wanted_text(operand, one.problem, extents)));
  }
  return header.data_at;
}

std::string digest_of(const InputFile& file, const std::string& path, std::int64_t offset,
                      std::int64_t bytes) {
  RunningDigest digest;
  std::vector<char> piece(static_cast<std::size_t>(std::min(bytes, kPieceBytes)));
  for (std::int64_t at = 0; at < bytes;) {
    const std::int64_t count = std::min(bytes - at, kPieceBytes);
    if (file.read(piece.data(), count, offset + at) < count) {
      refuse_data(path,
                  "the file became shorter while Kiln read it. Next: wait until it is "
                  "written, then run again");
    }
    digest.add(piece.data(), static_cast<std::size_t>(count));
    at += count;
  }
  return digest.hex();
}

DataFile read_data(const std::string& path, const Operation& operation, const OperandSpec& operand,
                   const OperandPlan& plan, const ProblemCase& one) {
  const InputFile file(path);
  std::string head(static_cast<std::size_t>(std::min(file.bytes(), kMostNpyHeader)), '\0');
  head.resize(
      static_cast<std::size_t>(file.read(head.data(), static_cast<std::int64_t>(head.size()), 0)));
  DataFile data{path, 0, ""};
  const bool has_header = is_npy(head);
  if (has_header) {
    data.offset = check_npy(path, head, operation, operand, one);
  } else if (path.ends_with(".npy")) {
    refuse_data(path,
                "this is no .npy file: its first bytes are others. Next: write the file with "
                "numpy.save, or give a file of nothing but the elements another name");
  }
  const std::int64_t bytes = plan.shape.rows * plan.shape.row_bytes();
  if (file.bytes() - data.offset != bytes) {
    const auto extents = extents_of(operand, operation, one.problem);
    refuse_data(
        path,
        fmt::format("the file has {} bytes{}, but {}, which takes {} bytes as {}. "
                    "Next: {}",
                    file.bytes() - data.offset, has_header ? " behind its header" : "",
                    wanted_text(operand, one.problem, extents), bytes, to_string(plan.shape.type),
                    has_header ? "write the file again"
                               : "choose the sizes and types of this file, or "
                                 "another file"));
  }
  data.digest = digest_of(file, path, data.offset, bytes);
  return data;
}

/// A name in the declaration starts from the declaration's folder.
std::string path_of(const Operation& operation, const OperandSpec& operand) {
  const std::filesystem::path file(operand.file);
  if (file.is_absolute()) return file.string();
  return (std::filesystem::path(operation.origin.file).parent_path() / file).string();
}

std::string absolute_path(const std::string& path) {
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path, error);
  return error ? path : absolute.lexically_normal().string();
}

const GivenData* given_for(const std::string& operand, const std::vector<GivenData>& given) {
  const auto found = std::ranges::find(given, operand, &GivenData::operand);
  return found == given.end() ? nullptr : &*found;
}

void check_given(const Operation& operation, const std::vector<GivenData>& given) {
  for (auto at = given.begin(); at != given.end(); ++at) {
    const OperandSpec* const operand = operation.operand(at->operand);
    if (operand == nullptr) {
      std::vector<std::string> known;
      for (const OperandSpec& each : operation.operands) known.push_back(each.name);
      throw Error(ErrorKind::usage, fmt::format("{} has no operand \"{}\"{}", operation.name,
                                                at->operand, did_you_mean(at->operand, known)));
    }
    if (operand->role == OperandRole::out) {
      throw Error(ErrorKind::usage, fmt::format("{} is an output of {}, so it gets no data",
                                                operand->name, operation.name));
    }
    if (std::ranges::find(given.begin(), at, at->operand, &GivenData::operand) != at) {
      throw Error(ErrorKind::usage, fmt::format("two files are given for {}", at->operand));
    }
  }
}

}  // namespace

void attach_data(const Operation& operation, const std::vector<GivenData>& given,
                 ProblemCase& one) {
  check_given(operation, given);
  for (std::size_t i = 0; i < operation.operands.size(); ++i) {
    const OperandSpec& operand = operation.operands[i];
    const GivenData* const own = given_for(operand.name, given);
    const std::string path = own != nullptr         ? own->path
                             : operand.file.empty() ? ""
                                                    : path_of(operation, operand);
    OperandPlan& plan = one.operands[i];
    if (path.empty()) continue;
    if (!plan.present) {
      if (own == nullptr) continue;
      refuse_data(path, fmt::format("the operand {} does not exist in this problem, so it gets no "
                                    "data; leave this file out",
                                    operand.name));
    }
    if (plan.shape.elements() == 0) continue;
    for (const FillKernel& fill : operation.judge.fills) {
      if (fill.operands.size() == 1 || std::ranges::find(fill.operands, i) == fill.operands.end()) {
        continue;
      }
      refuse_data(path, fmt::format("the kernel {} makes {} together with other operands, so {} "
                                    "cannot come from a file; leave this file out",
                                    fill.kernel.kernel, operand.name, operand.name));
    }
    try {
      plan.data = read_data(absolute_path(path), operation, operand, plan, one);
    } catch (const Error& error) {
      if (own != nullptr || error.kind() != ErrorKind::usage) throw;
      throw Error(ErrorKind::usage,
                  fmt::format("{}. {}:{} names this file; \"--data {}=FILE\" gives another one, "
                              "and \"--data {}=\" chooses generated data",
                              error.what(), operation.origin.file, operand.line, operand.name,
                              operand.name));
    }
  }
}

std::string data_text(const ProblemCase& one) {
  std::string text;
  for (const OperandPlan& operand : one.operands) {
    if (operand.data.path.empty()) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", operand.name, operand.data.digest);
  }
  return text;
}

void load_data(Device& device, const OperandPlan& plan, DevicePtr to) {
  const MatrixShape& shape = plan.shape;
  const InputFile file(plan.data.path);
  RunningDigest digest;
  const auto changed = [&] {
    refuse_data(plan.data.path,
                "the file is not as it was when Kiln first read it. Next: leave the file alone "
                "while Kiln uses it, and run again");
  };
  const std::int64_t row_bytes = shape.row_bytes();
  const bool is_tight = shape.ld == shape.cols || shape.rows == 1;
  // Rows of any length, in pieces; or of rows with gaps as many as fit a piece.
  const std::int64_t unit = is_tight ? 1 : row_bytes;
  const std::int64_t pitch = is_tight ? 1 : shape.pitch_bytes();
  const std::int64_t units = shape.rows * row_bytes / unit;
  const std::int64_t most = std::max<std::int64_t>(kPieceBytes / pitch, 1);
  std::vector<char> piece(static_cast<std::size_t>(std::min(units, most) * pitch));
  for (std::int64_t at = 0; at < units;) {
    const std::int64_t count = std::min(units - at, most);
    const std::int64_t offset = plan.data.offset + at * unit;
    if (is_tight) {
      if (file.read(piece.data(), count, offset) < count) changed();
      digest.add(piece.data(), static_cast<std::size_t>(count));
    } else {
      std::memset(piece.data(), kGapByte, piece.size());
      for (std::int64_t row = 0; row < count; ++row) {
        char* const data = piece.data() + row * pitch;
        if (file.read(data, row_bytes, offset + row * unit) < row_bytes) changed();
        digest.add(data, static_cast<std::size_t>(row_bytes));
      }
    }
    const bool is_last = at + count == units;
    const std::int64_t bytes = count * pitch - (is_last && !is_tight ? pitch - row_bytes : 0);
    device.copy_to_device(to + static_cast<DevicePtr>(at * pitch), piece.data(), bytes);
    at += count;
  }
  if (digest.hex() != plan.data.digest) changed();
}

}  // namespace kiln
