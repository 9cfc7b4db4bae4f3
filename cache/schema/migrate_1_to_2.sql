-- SPDX-FileCopyrightText: 2026 The Kiln authors
-- SPDX-License-Identifier: Apache-2.0
-- Schema 1 had no flops, no mark for interleaved measurements, and ordered "best" only in C++.

ALTER TABLE problems ADD COLUMN flops REAL;
ALTER TABLE trials ADD COLUMN interleaved INTEGER NOT NULL DEFAULT 0;
ALTER TABLE trials ADD COLUMN provenance_rank INTEGER GENERATED ALWAYS AS
  (CASE provenance WHEN 'measured' THEN 0 WHEN 'modelled' THEN 1 ELSE 2 END) VIRTUAL;
ALTER TABLE trials ADD COLUMN eligible INTEGER GENERATED ALWAYS AS
  (coalesce(outcome = 'ok' AND (provenance = 'compiled' OR (verified = 1 AND median_ns > 0)), 0))
  VIRTUAL;
ALTER TABLE trials ADD COLUMN cost REAL GENERATED ALWAYS AS
  (CASE provenance WHEN 'compiled' THEN -coalesce(occupancy, 0.0)
   ELSE median_ns * (CASE interleaved WHEN 1 THEN 1.0 ELSE 1.125 END) END) VIRTUAL;
ALTER TABLE trials ADD COLUMN noise REAL GENERATED ALWAYS AS
  (CASE provenance WHEN 'compiled' THEN 0.0 ELSE coalesce(spread_ns, 0.0) END) VIRTUAL;

CREATE INDEX trials_by_cost
  ON trials (problem_id, device_id, provenance_rank, cost, noise) WHERE eligible = 1;
CREATE INDEX trials_wrong
  ON trials (problem_id, device_id, template_id, config) WHERE outcome = 'wrong_result';
