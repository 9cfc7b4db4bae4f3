-- SPDX-FileCopyrightText: 2026 The Kiln authors
-- SPDX-License-Identifier: Apache-2.0
-- Views for people with plain `sqlite3`; Kiln itself never reads them.

-- Every trial, oldest first, with times in microseconds.
CREATE VIEW history AS
SELECT datetime(t.created_unix_ms / 1000, 'unixepoch') AS "when",
       p.operation, p.sizes, d.name AS device, d.arch, m.name AS template, t.config,
       t.provenance, t.outcome,
       round(t.median_ns / 1000, 3) AS median_us,
       round(t.spread_ns / 1000, 3) AS spread_us,
       round(p.flops / t.median_ns / 1000, 1) AS tflops,
       t.registers, round(t.occupancy, 3) AS occupancy,
       substr(t.message, 1, instr(t.message || char(10), char(10)) - 1) AS message,
       nullif(t.shared_from, '') AS shared_from,
       nullif(t.judge_digest, '') AS judge,
       e.driver, e.toolkit, e.policy, p.kind, t.session_id, t.trial_id
FROM trials t JOIN problems p USING (problem_id) JOIN devices d USING (device_id)
     JOIN templates m USING (template_id) JOIN environments e USING (environment_id)
ORDER BY t.created_unix_ms, t.trial_id;

-- The best candidate of each problem on each device, from the shortlists. The leader has the
-- lowest cost; what is within noise of it, and within a 64th, ties; ties go to fewer registers,
-- then to the smaller name.
CREATE VIEW best AS
WITH able AS (
  SELECT t.seq, t.problem_id, t.device_id, t.provenance_rank, t.cost, t.noise,
         coalesce(t.registers, 2147483647) AS registers, m.name AS template, t.config, t.trial_id
  FROM shortlists s CROSS JOIN json_each(s.contenders) c
       JOIN trials t ON t.trial_id = json_extract(c.value, '$[0]')
       JOIN templates m USING (template_id)
  WHERE json_valid(s.contenders)
), ordered AS (
  SELECT *, row_number() OVER (
              PARTITION BY problem_id, device_id
              ORDER BY provenance_rank, cost, registers, template, config, trial_id) AS place
  FROM able
), tied AS (
  SELECT o.*, row_number() OVER (
                PARTITION BY o.problem_id, o.device_id
                ORDER BY o.registers, o.template, o.config, o.cost, o.trial_id) AS choice
  FROM ordered o JOIN ordered l
    ON l.place = 1 AND l.problem_id = o.problem_id AND l.device_id = o.device_id
   AND l.provenance_rank = o.provenance_rank
  WHERE o.cost <= l.cost + abs(l.cost) / 64.0 AND o.cost - o.noise <= l.cost + l.noise
)
SELECT p.operation, p.sizes, d.name AS device, d.arch, m.name AS template, t.config,
       round(t.median_ns / 1000, 3) AS median_us,
       round(100 * t.spread_ns / t.median_ns, 2) AS spread_percent,
       round(p.flops / t.median_ns / 1000, 1) AS tflops,
       t.registers, round(t.occupancy, 3) AS occupancy, t.provenance,
       e.driver, e.toolkit, datetime(t.created_unix_ms / 1000, 'unixepoch') AS "when",
       p.kind, t.trial_id
FROM tied b JOIN trials t ON t.seq = b.seq
     JOIN problems p ON p.problem_id = t.problem_id JOIN devices d ON d.device_id = t.device_id
     JOIN templates m ON m.template_id = t.template_id
     JOIN environments e ON e.environment_id = t.environment_id
WHERE b.choice = 1
ORDER BY p.kind, p.problem_id, d.name;

-- What did not work, and why.
CREATE VIEW failures AS
SELECT "when", operation, sizes, device, template, config, outcome, message, trial_id
FROM history WHERE outcome <> 'ok';

-- One row per measured sample.
CREATE VIEW samples AS
SELECT t.trial_id, s.key AS sample, s.value AS time_ns
FROM trials t, json_each(t.samples_ns) s
WHERE t.samples_ns IS NOT NULL;

-- The configuration of every trial, a row for each tunable: "tile_m=128 tile_n=64" in columns.
CREATE VIEW tunables AS
WITH texts AS (
  SELECT trial_id,
         CASE config WHEN '' THEN '{}'
           ELSE '{"' || replace(replace(config, '=', '":"'), ' ', '","') || '"}' END AS object
  FROM trials
)
SELECT x.trial_id, w.key AS name,
       CASE WHEN w.value GLOB '*[^-0-9]*' THEN w.value ELSE CAST(w.value AS INTEGER) END AS value
FROM texts x, json_each(CASE WHEN json_valid(x.object) THEN x.object ELSE '{}' END) w;

-- The same for the sizes of every trial's problem.
CREATE VIEW sizes AS
WITH texts AS (
  SELECT t.trial_id,
         CASE p.sizes WHEN '' THEN '{}'
           ELSE '{"' || replace(replace(p.sizes, '=', '":'), ' ', ',"') || '}' END AS object
  FROM trials t JOIN problems p USING (problem_id)
)
SELECT x.trial_id, w.key AS name, w.value
FROM texts x, json_each(CASE WHEN json_valid(x.object) THEN x.object ELSE '{}' END) w;

-- A session runs while its process holds a lock, which SQL cannot see: the row of a killed one
-- also says "running".
CREATE VIEW sessions_overview AS
SELECT datetime(s.started_unix_ms / 1000, 'unixepoch') AS started,
       CASE s.ended_unix_ms WHEN 0 THEN NULL
         ELSE round((s.ended_unix_ms - s.started_unix_ms) / 1000.0, 1) END AS seconds,
       CASE s.state WHEN 'running' THEN 'running or killed' ELSE s.state END AS state,
       p.operation, p.sizes, d.name AS device, s.strategy, s.budget,
       s.evaluated, s.space_size,
       (SELECT count(*) FROM trials t WHERE t.session_id = s.session_id) AS trials,
       (SELECT count(*) FROM trials t
        WHERE t.session_id = s.session_id AND t.outcome <> 'ok') AS failed,
       (SELECT round(min(t.median_ns) / 1000, 3) FROM trials t
        WHERE t.session_id = s.session_id AND t.eligible = 1) AS fastest_us,
       p.kind, s.session_id
FROM sessions s JOIN problems p USING (problem_id) JOIN devices d USING (device_id)
ORDER BY s.started_unix_ms, s.session_id;
