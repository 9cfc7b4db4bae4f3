// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/catalog.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "templates/operation/judge.hpp"
#include "templates/render/header_inliner.hpp"
#include "tests/unit/templates/expect_error.hpp"
#include "tests/unit/templates/softmax_operation.hpp"
#include "tests/unit/templates/tiny_template.hpp"

namespace kiln {
namespace {

using test::error_text;
using test::kTinyTemplate;
using test::replaced;
using test::TemporaryFolder;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string tiny_named(std::string_view name) {
  std::string text(kTinyTemplate);
  const std::string line = "//@ template   tiny";
  return text.replace(text.find(line), line.size(), "//@ template   " + std::string(name));
}

TEST(EmbeddedFiles, AreTheKernelFolder) {
  namespace fs = std::filesystem;
  const fs::path base = fs::path(KILN_SOURCE_DIR) / "templates/kernels";
  std::set<std::string> expected;
  for (const auto& entry : fs::recursive_directory_iterator(base)) {
    const auto extension = entry.path().extension();
    if (extension != ".cu" && extension != ".cuh" && extension != ".hints") continue;
    const auto path = entry.path().lexically_relative(base).generic_string();
    expected.insert(path);
    const auto found = embedded_files().find(path);
    ASSERT_NE(found, embedded_files().end()) << path;
    std::ifstream stream(entry.path(), std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(stream)), {});
    EXPECT_TRUE(found->second == text) << path << " differs; is the build older than the file?";
  }
  EXPECT_EQ(embedded_files().size(), expected.size());
}

TEST(Catalog, BuiltinsComeFromTheEmbeddedFiles) {
  const auto& catalog = Catalog::builtin();
  for (const auto* name :
       {"gemm_naive", "gemm_tiled", "gemm_simt", "gemm_wmma", "gemm_mma", "gemm_wgmma"}) {
    ASSERT_NE(catalog.find(name), nullptr) << name;
    EXPECT_EQ(&catalog.at(name), catalog.find(name));
    EXPECT_EQ(catalog.digest(name).size(), 32U);
  }
  EXPECT_TRUE(catalog.headers().contains("common/gemm_args.cuh"));
  EXPECT_EQ(catalog.find("gemm_magic"), nullptr);
}

TEST(Catalog, UnknownNamesListWhatThereIsNearestFirst) {
  EXPECT_THAT(error_text(ErrorKind::usage, [] { (void)Catalog::builtin().at("gemm_wnma"); }),
              StartsWith("there is no template \"gemm_wnma\"; the templates are: gemm_wmma, "));
  EXPECT_THAT(
      error_text(ErrorKind::usage, [] { (void)Catalog::builtin().at("gemm_wnma", "another"); }),
      StartsWith("there is no template \"gemm_wnma\"; the templates of another are: "));
}

TEST(Catalog, AddsAUsersDirectory) {
  const TemporaryFolder folder;
  folder.write("deep/tiny.cu", kTinyTemplate);
  folder.write("deep/helper.cuh", "#include \"common/gemm_args.cuh\"\n");
  folder.write("plain.cu", "__global__ void no_front_matter() {}\n");
  folder.write("notes.txt", "//@ nonsense\n");
  const auto catalog = Catalog::with_directories({folder.path()});
  EXPECT_EQ(catalog.templates().size(), Catalog::builtin().templates().size() + 1);
  EXPECT_EQ(catalog.at("tiny").file(), folder.path() + "/deep/tiny.cu");
  const auto& origin = catalog.origin("tiny");
  EXPECT_EQ(origin.path, "deep/tiny.cu");
  EXPECT_TRUE(origin.headers.quoted(nullptr, origin.path, "helper.cuh"));
  EXPECT_TRUE(origin.headers.quoted(nullptr, origin.path, "common/gemm_args.cuh"));
  EXPECT_FALSE(catalog.headers().contains("deep/helper.cuh"));
}

TEST(Catalog, AUsersTemplateReplacesABuiltin) {
  const TemporaryFolder folder;
  folder.write("mine.cu", tiny_named("gemm_naive"));
  folder.write("helper.cuh", "");
  const auto catalog = Catalog::with_directories({folder.path()});
  EXPECT_EQ(catalog.templates().size(), Catalog::builtin().templates().size());
  EXPECT_EQ(catalog.at("gemm_naive").config_struct().type, "TinyConfig");
  EXPECT_NE(catalog.digest("gemm_naive"), Catalog::builtin().digest("gemm_naive"));
  EXPECT_EQ(catalog.digest("gemm_tiled"), Catalog::builtin().digest("gemm_tiled"));
}

TEST(Catalog, AUsersHeaderShadowsABuiltinForThatDirectoryAlone) {
  const TemporaryFolder folder;
  folder.write("tiny.cu", kTinyTemplate);
  folder.write("helper.cuh", "#include \"common/gemm_args.cuh\"\n");
  const auto before = Catalog::with_directories({folder.path()});
  folder.write("common/gemm_args.cuh", "namespace kiln { struct GemmArgs { int other; }; }\n");
  const auto after = Catalog::with_directories({folder.path()});
  EXPECT_NE(after.digest("tiny"), before.digest("tiny"));
  EXPECT_EQ(after.digest("gemm_tiled"), before.digest("gemm_tiled"));
}

TEST(Catalog, DigestFollowsWhatIsReached) {
  const TemporaryFolder folder;
  folder.write("tiny.cu", kTinyTemplate);
  folder.write("helper.cuh", "#include \"second.cuh\"\n");
  folder.write("second.cuh", "int a;\n");
  folder.write("unrelated.cuh", "int a;\n");
  const auto digest = [&] { return Catalog::with_directories({folder.path()}).digest("tiny"); };
  const auto first = digest();
  EXPECT_EQ(digest(), first);
  folder.write("unrelated.cuh", "int b;\n");
  EXPECT_EQ(digest(), first);
  folder.write("second.cuh", "int b;\n");
  EXPECT_NE(digest(), first);
  folder.write("second.cuh", "int a;\n");
  EXPECT_EQ(digest(), first);
  folder.write("tiny.cu", std::string(kTinyTemplate) + "\n");
  EXPECT_NE(digest(), first);
}

/// The template with a line in place of its include.
std::string tiny_with(const std::string& line) {
  std::string text(kTinyTemplate);
  const std::string include = "#include \"helper.cuh\"";
  return text.replace(text.find(include), include.size(), line);
}

TEST(Catalog, DigestFollowsEveryHeaderThatIsNotCudas) {
  const TemporaryFolder own;
  const TemporaryFolder other;
  const TemporaryFolder added;
  const TemporaryFolder cuda;
  cuda.write("cuda_fp16.h", "");
  own.write("sub/named/x.h", "");
  struct Case {
    std::string line;
    const TemporaryFolder* folder;
    std::string file;
  };
  for (const auto& [line, folder, file] : std::vector<Case>{
           {"#include <mylib.h>", &cuda, "mylib.h"},
           {"#include <mylib/core.h>", &added, "mylib/core.h"},
           {"#include \"mylib.hpp\"", &added, "mylib.hpp"},
           {"#include <" + added.path() + "/absolute.h>", &added, "absolute.h"},
           {"#include \"sizes.h\"", &own, "sub/sizes.h"},
           {"#include \"../up.inl\"", &own, "up.inl"},
           {"#include \"shared.hpp\"", &other, "shared.hpp"},
           {"//@ include named\n#include <x.h>", &own, "sub/named/x.h"},
           {"%:include \"sizes.h\"", &own, "sub/sizes.h"},
           {"/**/ #include \"sizes.h\"", &own, "sub/sizes.h"},
           {"#if X\n#include \"sizes.h\"\n#endif", &own, "sub/sizes.h"},
       }) {
    own.write("sub/tiny.cu", tiny_with(line));
    const auto digest = [&] {
      return Catalog::with_directories({own.path(), other.path()}, {{added.path()}, cuda.path()})
          .digest("tiny");
    };
    folder->write(file, "int a;\n");
    const auto first = digest();
    EXPECT_EQ(digest(), first) << line;
    folder->write(file, "int b;\n");
    EXPECT_NE(digest(), first) << line;
    folder->write(file, "int a;\n");
    EXPECT_EQ(digest(), first) << line;
  }
}

TEST(Catalog, CudasOwnHeadersCountByTheCompilersVersion) {
  const TemporaryFolder own;
  const TemporaryFolder cuda;
  own.write("tiny.cu", tiny_with("#include <cuda_fp16.h>"));
  const auto digest = [&](const IncludeFolders& includes) {
    return Catalog::with_directories({own.path()}, includes).digest("tiny");
  };
  cuda.write("cuda_fp16.h", "int a;\n");
  const auto first = digest({{}, cuda.path()});
  EXPECT_EQ(digest({{cuda.path()}, ""}), first) << "not taken from a folder of includes either";
  cuda.write("cuda_fp16.h", "int b;\n");
  EXPECT_EQ(digest({{}, cuda.path()}), first);
}

TEST(Catalog, AHeaderIsReadOnce) {
  const TemporaryFolder folder;
  folder.write("tiny.cu", kTinyTemplate);
  folder.write("helper.cuh", "int a;\n");
  const auto catalog = Catalog::with_directories({folder.path()});
  folder.write("helper.cuh", "int b;\n");
  const auto& origin = catalog.origin("tiny");
  EXPECT_EQ(*origin.headers.quoted(nullptr, origin.path, "helper.cuh")->text, "int a;\n")
      << "what was digested is what is compiled";
}

TEST(Catalog, ByteOrderMarksAreNoPartOfASource) {
  const TemporaryFolder folder;
  folder.write("tiny.cu", kTinyTemplate);
  folder.write("helper.cuh", "int a;\n");
  const auto first = Catalog::with_directories({folder.path()}).digest("tiny");
  folder.write("tiny.cu", "\xEF\xBB\xBF" + std::string(kTinyTemplate));
  folder.write("helper.cuh", "\xEF\xBB\xBFint a;\n");
  EXPECT_EQ(Catalog::with_directories({folder.path()}).digest("tiny"), first);
}

/// As some editors save it, with or without a mark.
std::string utf16(std::string_view text, const std::string& mark) {
  std::string wide = mark;
  for (const char c : text) wide += std::string{c, '\0'};
  return wide;
}

TEST(Catalog, AFileInUtf16IsNamedWithWhatItDeclares) {
  for (const std::string& mark : {std::string(), std::string("\xFF\xFE")}) {
    const TemporaryFolder folder;
    folder.write("tiny.cu", utf16(kTinyTemplate, mark));
    folder.write("squares.cu", utf16("//@ operation  squares\n", mark));
    const auto catalog = Catalog::with_sound_files({folder.path()});
    ASSERT_EQ(catalog.broken().size(), 2U);
    ASSERT_NE(catalog.find_broken("tiny"), nullptr);
    EXPECT_EQ(std::string(catalog.find_broken("tiny")->error.what()),
              folder.path() + "/tiny.cu:1:1: the file is in UTF-16. Next: save it as UTF-8");
    EXPECT_NE(catalog.find_broken("squares"), nullptr);
  }
}

TEST(Catalog, AnIncludeLineThatNamesNoFolderIsRefusedWithItsPlace) {
  const TemporaryFolder folder;
  folder.write("helper.cuh", "");
  folder.write("tiny.cu", replaced(std::string(kTinyTemplate), "//@ operation",
                                   "//@ include  gone\n//@ operation"));
  const auto catalog = Catalog::with_sound_files({folder.path()});
  ASSERT_EQ(catalog.broken().size(), 1U);
  EXPECT_THAT(
      catalog.broken()[0].error.what(),
      AllOf(StartsWith(folder.path() + "/tiny.cu:"),
            HasSubstr(": " + folder.path() + "/gone is not a folder. Next: correct the path")));
}

TEST(Catalog, ADigestOfHeadersIsThatOfAllThatASourceReaches) {
  FileSet files{{"a.h", "#include \"b.h\"\n"}, {"b.h", "int b;\n"}};
  const std::string source = "#include <a.h>\n";
  const auto first = digest_of_headers(files, "op.cu", source);
  EXPECT_EQ(digest_of_headers(files, "op.cu", source), first);
  files["b.h"] = "int c;\n";
  EXPECT_NE(digest_of_headers(files, "op.cu", source), first);
  EXPECT_EQ(digest_of_headers(files, "op.cu", "#include <mma.h>\n"), "");
  EXPECT_NE(digest_of_headers(files, "op.cu", "#include <cmath>\n"), "") << "Kiln's own";
}

TEST(Catalog, DigestsMayBeAskedForByAllThreadsAtOnce) {
  const Catalog catalog = Catalog::with_directories({});
  std::vector<std::string> digests(4);
  {
    std::vector<std::jthread> threads;
    for (std::string& digest : digests) {
      threads.emplace_back([&] { digest = catalog.digest("gemm_tiled"); });
    }
  }
  EXPECT_THAT(digests, Each(Catalog::builtin().digest("gemm_tiled")));
}

TEST(Catalog, AnOperationThatWasEditedIsThatOfTheCatalogsToCome) {
  const TemporaryFolder folder;
  folder.write("soft.cu", test::kSoftmaxOperation);
  const auto before = Catalog::with_directories({folder.path()});
  folder.write("soft.cu", test::replaced(test::kSoftmaxOperation, "5 * rows", "6 * rows"));
  const auto after = Catalog::with_directories({folder.path()});
  EXPECT_EQ(before.operations().find("soft")->cost.flops->text(), "5 * rows * cols");
  EXPECT_EQ(after.operations().find("soft")->cost.flops->text(), "6 * rows * cols");
  EXPECT_EQ(Catalog::builtin().operations().find("soft"), nullptr);
}

TEST(Catalog, AReferenceWhoseHeaderWasEditedIsAnotherJudge) {
  const TemporaryFolder folder;
  folder.write("soft.cu", std::string(test::kSoftmaxOperation) + "#include \"part.cuh\"\n");
  const auto judge_with = [&](const std::string& header) {
    folder.write("part.cuh", header);
    return judge_digest(*Catalog::with_directories({folder.path()}).operations().find("soft"));
  };
  const std::string before = judge_with("#pragma once\nconstexpr int kFirst = 0;\n");
  EXPECT_NE(judge_with("#pragma once\nconstexpr int kFirst = 1;\n"), before);
  EXPECT_EQ(judge_with("#pragma once\nconstexpr int kFirst = 0;\n"), before);
}

TEST(Catalog, WhatCannotBeReadIsLeftOutByNameAndTheRestIsThere) {
  if (::geteuid() == 0 && ::seteuid(65534) != 0) GTEST_SKIP() << "root reads everything";
  {
    const TemporaryFolder folder;
    folder.write("good/tiny.cu", kTinyTemplate);
    folder.write("good/helper.cuh", "");
    folder.write("closed/other.cu", tiny_named("other"));
    folder.write("secret.cu", tiny_named("secret"));
    namespace fs = std::filesystem;
    fs::create_symlink("loop.cu", folder.path() + "/loop.cu");
    fs::create_symlink("nowhere.cu", folder.path() + "/dangling.cu");
    fs::create_directory_symlink(folder.path(), folder.path() + "/good/again");
    fs::permissions(folder.path() + "/closed", fs::perms::none);
    fs::permissions(folder.path() + "/secret.cu", fs::perms::none);
    const auto catalog = Catalog::with_directories({folder.path()});
    fs::permissions(folder.path() + "/closed", fs::perms::owner_all);
    EXPECT_NE(catalog.find("tiny"), nullptr);
    EXPECT_EQ(catalog.find("other"), nullptr);
    EXPECT_THAT(catalog.left_out(),
                ::testing::UnorderedElementsAre(
                    AllOf(HasSubstr(folder.path() + "/loop.cu,"), HasSubstr("links")),
                    AllOf(HasSubstr(folder.path() + "/secret.cu,"), HasSubstr("Permission")),
                    AllOf(HasSubstr(folder.path() + "/closed,"), HasSubstr("Permission"))));
  }
  if (::getuid() == 0) {
    EXPECT_EQ(::seteuid(0), 0);
  }
}

TEST(Catalog, LeavesOutMalformedFilesAndKeepsTheOthers) {
  const TemporaryFolder folder;
  folder.write("helper.cuh", "");
  folder.write("tiny.cu", kTinyTemplate);
  folder.write("mine.cu", "//@ template   gemm_naive\n//@ operation  gemm\n//@ nonsense\n");
  folder.write("squares.cu", "//@ operation  squares\n//@ nonsense\n");
  folder.write("squares_plain.cu", "//@ template   squares_plain\n//@ operation  squares\n");
  const auto catalog = Catalog::with_sound_files({folder.path()});
  EXPECT_NE(catalog.find("tiny"), nullptr);
  EXPECT_NE(catalog.at("gemm_naive").config_struct().type, "") << "the built-in one stays";
  ASSERT_EQ(catalog.broken().size(), 2U) << "a template says nothing of its operation's mistakes";
  EXPECT_EQ(catalog.find_broken("squares")->file, folder.path() + "/squares.cu");
  EXPECT_THAT(catalog.find_broken("gemm_naive")->error.what(),
              StartsWith(folder.path() + "/mine.cu:3:5:"));
  EXPECT_EQ(catalog.find_broken("tiny"), nullptr);
}

TEST(CatalogError, NamesThePlace) {
  const TemporaryFolder folder;
  const auto load = [&](ErrorKind kind) {
    return error_text(kind, [&] { (void)Catalog::with_directories({folder.path()}); });
  };
  folder.write("tiny.cu", kTinyTemplate);
  EXPECT_THAT(load(ErrorKind::template_),
              AllOf(StartsWith("tiny.cu:9:10:"), HasSubstr("helper.cuh"),
                    HasSubstr("in the template " + folder.path() + "/tiny.cu")));
  folder.write("helper.cuh", "");
  folder.write("again.cu", kTinyTemplate);
  EXPECT_THAT(load(ErrorKind::template_),
              AllOf(HasSubstr("tiny.cu:1:1:"), HasSubstr("also declares"), HasSubstr("again.cu")));
  folder.write("again.cu", "//@ temple x\n");
  EXPECT_THAT(load(ErrorKind::template_), StartsWith(folder.path() + "/again.cu:1:5:"));
  EXPECT_THAT(
      error_text(ErrorKind::usage, [] { (void)Catalog::with_directories({"/nowhere/at/all"}); }),
      AllOf(HasSubstr("/nowhere/at/all"), HasSubstr("KILN_TEMPLATE_PATH")));
  EXPECT_THAT(error_text(ErrorKind::usage,
                         [] {
                           (void)Catalog::with_directories({}, {{"/nowhere/at/all"}, ""});
                         }),
              AllOf(HasSubstr("/nowhere/at/all"), HasSubstr("--include")));
}

}  // namespace
}  // namespace kiln
