-- SPDX-FileCopyrightText: 2026 The Kiln authors
-- SPDX-License-Identifier: Apache-2.0
-- Schema 5 found a problem's last session through an index, where a damaged index could hide it;
-- now the sessions themselves are read.

DROP INDEX sessions_by_problem;
