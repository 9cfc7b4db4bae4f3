-- SPDX-FileCopyrightText: 2026 The Kiln authors
-- SPDX-License-Identifier: Apache-2.0
-- In schema 2 a time that was not interleaved counted only an eighth longer, which is less than
-- clocks drift under load. The view that uses the column is recreated by views.sql.

DROP VIEW IF EXISTS best;
DROP INDEX trials_by_cost;
ALTER TABLE trials DROP COLUMN cost;
ALTER TABLE trials ADD COLUMN cost REAL GENERATED ALWAYS AS
  (CASE provenance WHEN 'compiled' THEN -coalesce(occupancy, 0.0)
   ELSE median_ns * (CASE interleaved WHEN 1 THEN 1.0 ELSE 1.25 END) END) VIRTUAL;
CREATE INDEX trials_by_cost
  ON trials (problem_id, device_id, provenance_rank, cost, noise) WHERE eligible = 1;
