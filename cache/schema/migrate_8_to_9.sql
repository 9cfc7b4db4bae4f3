-- SPDX-FileCopyrightText: 2026 The Kiln authors
-- SPDX-License-Identifier: Apache-2.0
-- Schema 8 did not know what had judged a trial, so verdicts outlived their judge. Its shortlists
-- are out of date: contenders of different judges are not rivals.

ALTER TABLE trials ADD COLUMN judge_digest TEXT NOT NULL DEFAULT '';
ALTER TABLE trials ADD COLUMN checked INTEGER NOT NULL DEFAULT 0;

UPDATE shortlists SET digest = '';
