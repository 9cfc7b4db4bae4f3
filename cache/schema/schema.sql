-- SPDX-FileCopyrightText: 2026 The Kiln authors
-- SPDX-License-Identifier: Apache-2.0
-- Tables of the tuning database. docs/reference/schema.md explains every column.

-- One instance of an operation. `kind` must be equal for a result to apply; `sizes` may be near.
CREATE TABLE problems (
  problem_id INTEGER PRIMARY KEY,
  operation  TEXT NOT NULL,
  kind       TEXT NOT NULL,
  sizes      TEXT NOT NULL,
  flops      REAL,
  UNIQUE (kind, sizes)
) STRICT;

-- Devices on which a measurement means the same.
CREATE TABLE devices (
  device_id   INTEGER PRIMARY KEY,
  name        TEXT NOT NULL,
  arch        TEXT NOT NULL,
  sm_count    INTEGER NOT NULL,
  l2_bytes    INTEGER NOT NULL,
  mig_profile TEXT NOT NULL,
  UNIQUE (name, arch, sm_count, l2_bytes, mig_profile)
) STRICT;

-- A template at one state of its source.
CREATE TABLE templates (
  template_id INTEGER PRIMARY KEY,
  name        TEXT NOT NULL,
  digest      TEXT NOT NULL,
  UNIQUE (name, digest)
) STRICT;

-- Differences that make a result stale, not wrong.
CREATE TABLE environments (
  environment_id INTEGER PRIMARY KEY,
  driver         TEXT NOT NULL,
  toolkit        TEXT NOT NULL,
  policy         TEXT NOT NULL,
  UNIQUE (driver, toolkit, policy)
) STRICT;

-- Tuning runs.
CREATE TABLE sessions (
  seq             INTEGER PRIMARY KEY,
  session_id      TEXT NOT NULL UNIQUE,
  problem_id      INTEGER NOT NULL REFERENCES problems,
  device_id       INTEGER NOT NULL REFERENCES devices,
  environment_id  INTEGER NOT NULL REFERENCES environments,
  strategy        TEXT NOT NULL,
  budget          TEXT NOT NULL,
  space_size      INTEGER NOT NULL,
  evaluated       INTEGER NOT NULL,
  state           TEXT NOT NULL,
  started_unix_ms INTEGER NOT NULL,
  ended_unix_ms   INTEGER NOT NULL,
  digest          TEXT NOT NULL
) STRICT;

-- Candidates about to be launched: a process that dies with one leaves its row here.
CREATE TABLE attempts (
  problem_id  INTEGER NOT NULL REFERENCES problems,
  device_id   INTEGER NOT NULL REFERENCES devices,
  template_id INTEGER NOT NULL REFERENCES templates,
  config      TEXT NOT NULL,
  session_id  TEXT NOT NULL,
  digest      TEXT NOT NULL,
  PRIMARY KEY (problem_id, device_id, template_id, config)
) STRICT, WITHOUT ROWID;

-- Every evaluation of every candidate; only ever added to.
CREATE TABLE trials (
  seq                INTEGER PRIMARY KEY,
  trial_id           TEXT NOT NULL UNIQUE,
  problem_id         INTEGER NOT NULL REFERENCES problems,
  device_id          INTEGER NOT NULL REFERENCES devices,
  template_id        INTEGER NOT NULL REFERENCES templates,
  config             TEXT NOT NULL,
  environment_id     INTEGER NOT NULL REFERENCES environments,
  provenance         TEXT NOT NULL,
  outcome            TEXT NOT NULL,
  message            TEXT NOT NULL,
  registers          INTEGER,
  spill_store_bytes  INTEGER,
  spill_load_bytes   INTEGER,
  stack_bytes        INTEGER,
  smem_static_bytes  INTEGER,
  smem_dynamic_bytes INTEGER,
  occupancy          REAL,
  verified           INTEGER,
  worst_ratio        REAL,
  evidence           TEXT,
  median_ns          REAL,
  spread_ns          REAL,
  samples_ns         TEXT,
  sm_clock_mhz       INTEGER,
  power_w            REAL,
  temperature_c      INTEGER,
  rendered_digest    TEXT NOT NULL,
  compile_seconds    REAL NOT NULL,
  session_id         TEXT NOT NULL,
  created_unix_ms    INTEGER NOT NULL,
  digest             TEXT NOT NULL,
  interleaved        INTEGER NOT NULL DEFAULT 0,
  code_digest        TEXT NOT NULL DEFAULT '',
  shared_from        TEXT NOT NULL DEFAULT '',
  judge_digest       TEXT NOT NULL DEFAULT '',
  checked            INTEGER NOT NULL DEFAULT 0,
  -- The order of "best", spelled out once for queries and views; ranking.cpp is its twin.
  provenance_rank INTEGER GENERATED ALWAYS AS
    (CASE provenance WHEN 'measured' THEN 0 WHEN 'modelled' THEN 1 ELSE 2 END) VIRTUAL,
  eligible INTEGER GENERATED ALWAYS AS
    (coalesce(outcome = 'ok' AND (provenance = 'compiled' OR (verified = 1 AND median_ns > 0)), 0))
    VIRTUAL,
  cost REAL GENERATED ALWAYS AS
    (CASE provenance WHEN 'compiled' THEN -coalesce(occupancy, 0.0)
     ELSE median_ns * (CASE interleaved WHEN 1 THEN 1.0 ELSE 1.25 END) END) VIRTUAL,
  noise REAL GENERATED ALWAYS AS
    (CASE provenance WHEN 'compiled' THEN 0.0 ELSE coalesce(spread_ns, 0.0) END) VIRTUAL
) STRICT;

CREATE INDEX trials_by_candidate ON trials (problem_id, device_id, template_id, config);
CREATE INDEX trials_by_session ON trials (session_id);
CREATE INDEX trials_by_code ON trials (problem_id, device_id, code_digest) WHERE code_digest <> '';
