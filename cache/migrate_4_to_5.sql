-- SPDX-FileCopyrightText: 2026 The Kiln authors
-- SPDX-License-Identifier: Apache-2.0
-- Schema 4 found the best in the trials themselves, through indexes that shortlists make needless.

DROP INDEX trials_by_cost;
DROP INDEX trials_wrong;
