-- SPDX-FileCopyrightText: 2026 The Kiln authors
-- SPDX-License-Identifier: Apache-2.0
-- Schema 6 did not know which candidates compile to the same machine code, so each was measured.

ALTER TABLE trials ADD COLUMN code_digest TEXT NOT NULL DEFAULT '';
ALTER TABLE trials ADD COLUMN shared_from TEXT NOT NULL DEFAULT '';

CREATE INDEX trials_by_code ON trials (problem_id, device_id, code_digest) WHERE code_digest <> '';
