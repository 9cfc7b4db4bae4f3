-- SPDX-FileCopyrightText: 2026 The Kiln authors
-- SPDX-License-Identifier: Apache-2.0
-- Schema 4 found the best in the trials themselves, through indexes that shortlists replace.

DROP INDEX trials_by_cost;
DROP INDEX trials_wrong;

CREATE INDEX sessions_by_problem
  ON sessions (problem_id, device_id, started_unix_ms, session_id);
