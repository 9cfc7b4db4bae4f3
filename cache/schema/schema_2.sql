-- SPDX-FileCopyrightText: 2026 The Kiln authors
-- SPDX-License-Identifier: Apache-2.0
-- What schema 2 adds to schema 1: energy, and the objective of a tuning run. A new database runs
-- this after the other files; an older one when Kiln next opens it for writing.

ALTER TABLE trials ADD COLUMN energy_j REAL;
ALTER TABLE trials ADD COLUMN energy_spread_j REAL;
ALTER TABLE sessions ADD COLUMN objective TEXT NOT NULL DEFAULT 'time';
-- The same as `contenders`, which is by time.
ALTER TABLE shortlists ADD COLUMN by_energy TEXT NOT NULL DEFAULT '[]';
ALTER TABLE shortlists ADD COLUMN by_energy_delay TEXT NOT NULL DEFAULT '[]';

-- Every trial with a measured energy, oldest first, in millijoules and watts.
CREATE VIEW IF NOT EXISTS energies AS
SELECT datetime(t.created_unix_ms / 1000, 'unixepoch') AS "when",
       p.operation, p.sizes, d.name AS device, m.name AS template, t.config,
       round(t.median_ns / 1000, 3) AS median_us,
       round(t.energy_j * 1000, 4) AS energy_mj,
       round(100 * t.energy_spread_j / t.energy_j, 2) AS energy_spread_percent,
       round(t.power_w, 1) AS power_w,
       t.energy_j * t.median_ns / 1e9 AS energy_delay,
       round(p.flops / t.energy_j / 1e9, 1) AS gflops_per_w,
       p.kind, t.trial_id
FROM trials t JOIN problems p USING (problem_id) JOIN devices d USING (device_id)
     JOIN templates m USING (template_id)
WHERE t.energy_j > 0
ORDER BY t.created_unix_ms, t.trial_id;
