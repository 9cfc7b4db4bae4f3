// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/files/private_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "tests/unit/cache/cache_fixture.hpp"

namespace kiln {
namespace {

namespace fs = std::filesystem;
using test::TempFolder;
using ::testing::HasSubstr;

class PrivateFolderTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<PrivateFolder> make() { return PrivateFolder::make(parent_, why_); }
  /// A process that makes a folder, puts a file there, and waits to be killed.
  [[nodiscard]] pid_t start_owner() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      const auto folder = make();
      if (folder) test::write_file(folder->path() + "/file", "x");
      (void)!::write(ends[1], "x", 1);
      for (;;) ::pause();
    }
    char byte = 0;
    EXPECT_EQ(::read(ends[0], &byte, 1), 1);
    ::close(ends[0]);
    ::close(ends[1]);
    return child;
  }
  static void end(pid_t child) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  /// Folders of processes present.
  [[nodiscard]] std::ptrdiff_t count() const {
    return std::count_if(fs::directory_iterator(parent_), fs::directory_iterator(),
                         [](const auto& entry) { return entry.is_directory(); });
  }

  const TempFolder folder_;
  const std::string parent_ = folder_.file("a/b");
  std::string why_;
};

TEST_F(PrivateFolderTest, IsTheUsersAloneAndGoesWithTheObject) {
  std::string path;
  {
    const auto folder = make();
    ASSERT_TRUE(folder) << why_;
    path = folder->path();
    struct stat info {};
    ASSERT_EQ(::stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777U, 0700U);
    test::write_file(path + "/file", "x");
    const auto another = make();
    ASSERT_TRUE(another) << why_;
    EXPECT_NE(another->path(), path);
  }
  EXPECT_FALSE(fs::exists(path));
  EXPECT_EQ(count(), 0);
}

TEST_F(PrivateFolderTest, WhatAKilledProcessLeftGoesAndALivingOnesStays) {
  const pid_t living = start_owner();
  const pid_t killed = start_owner();
  EXPECT_EQ(count(), 2);
  end(killed);
  EXPECT_EQ(count(), 2);
  {
    const auto folder = make();
    ASSERT_TRUE(folder) << why_;
    EXPECT_EQ(count(), 2) << "that of the living, and this one";
  }
  end(living);
  const auto folder = make();
  EXPECT_EQ(count(), 1);
}

TEST_F(PrivateFolderTest, WhatIsNotAProcessFolderStays) {
  fs::create_directories(parent_ + "/notes");
  fs::permissions(parent_, fs::perms::owner_all);
  test::write_file(parent_ + "/notes/file", "x");
  fs::create_directories(parent_ + "/process-without-a-lock");
  const auto folder = make();
  ASSERT_TRUE(folder) << why_;
  EXPECT_TRUE(fs::exists(parent_ + "/notes/file"));
  EXPECT_FALSE(fs::exists(parent_ + "/process-without-a-lock"));
}

TEST_F(PrivateFolderTest, AForkedCopyRemovesNothing) {
  const auto folder = make();
  ASSERT_TRUE(folder) << why_;
  const pid_t child = ::fork();
  if (child == 0) {
    const_cast<std::unique_ptr<PrivateFolder>&>(folder).reset();
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(fs::exists(folder->path()));
}

TEST_F(PrivateFolderTest, AParentThatOthersMayWriteIsRefused) {
  fs::create_directories(parent_);
  fs::permissions(parent_, fs::perms::all);
  EXPECT_FALSE(make());
  EXPECT_THAT(why_, HasSubstr("Kiln cannot use the folder " + parent_));
  EXPECT_THAT(why_, HasSubstr("Next: "));
}

TEST_F(PrivateFolderTest, AFileInPlaceOfTheParentIsRefused) {
  fs::create_directory(folder_.file("a"));
  test::write_file(parent_, "x");
  EXPECT_FALSE(make());
  EXPECT_THAT(why_, HasSubstr("Next: "));
  EXPECT_EQ(test::read_file(parent_), "x");
}

}  // namespace
}  // namespace kiln
