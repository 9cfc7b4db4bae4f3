-- SPDX-FileCopyrightText: 2026 The Kiln authors
-- SPDX-License-Identifier: Apache-2.0
-- Tables of the first schema, from which the migrations lead to every later one: what an older
-- database must look like before it is migrated. No file is created from it.

CREATE TABLE problems (problem_id INTEGER PRIMARY KEY, operation TEXT NOT NULL, kind TEXT NOT NULL,
  sizes TEXT NOT NULL, UNIQUE (kind, sizes)) STRICT;
CREATE TABLE devices (device_id INTEGER PRIMARY KEY, name TEXT NOT NULL, arch TEXT NOT NULL,
  sm_count INTEGER NOT NULL, l2_bytes INTEGER NOT NULL, mig_profile TEXT NOT NULL,
  UNIQUE (name, arch, sm_count, l2_bytes, mig_profile)) STRICT;
CREATE TABLE templates (template_id INTEGER PRIMARY KEY, name TEXT NOT NULL, digest TEXT NOT NULL,
  UNIQUE (name, digest)) STRICT;
CREATE TABLE environments (environment_id INTEGER PRIMARY KEY, driver TEXT NOT NULL,
  toolkit TEXT NOT NULL, policy TEXT NOT NULL, UNIQUE (driver, toolkit, policy)) STRICT;
CREATE TABLE sessions (seq INTEGER PRIMARY KEY, session_id TEXT NOT NULL UNIQUE,
  problem_id INTEGER NOT NULL REFERENCES problems, device_id INTEGER NOT NULL REFERENCES devices,
  environment_id INTEGER NOT NULL REFERENCES environments, strategy TEXT NOT NULL,
  budget TEXT NOT NULL, space_size INTEGER NOT NULL, evaluated INTEGER NOT NULL,
  state TEXT NOT NULL, started_unix_ms INTEGER NOT NULL, ended_unix_ms INTEGER NOT NULL,
  digest TEXT NOT NULL) STRICT;
CREATE TABLE attempts (problem_id INTEGER NOT NULL REFERENCES problems,
  device_id INTEGER NOT NULL REFERENCES devices,
  template_id INTEGER NOT NULL REFERENCES templates, config TEXT NOT NULL,
  session_id TEXT NOT NULL, digest TEXT NOT NULL,
  PRIMARY KEY (problem_id, device_id, template_id, config)) STRICT, WITHOUT ROWID;
CREATE TABLE trials (seq INTEGER PRIMARY KEY, trial_id TEXT NOT NULL UNIQUE,
  problem_id INTEGER NOT NULL REFERENCES problems, device_id INTEGER NOT NULL REFERENCES devices,
  template_id INTEGER NOT NULL REFERENCES templates, config TEXT NOT NULL,
  environment_id INTEGER NOT NULL REFERENCES environments, provenance TEXT NOT NULL,
  outcome TEXT NOT NULL, message TEXT NOT NULL, registers INTEGER, spill_store_bytes INTEGER,
  spill_load_bytes INTEGER, stack_bytes INTEGER, smem_static_bytes INTEGER,
  smem_dynamic_bytes INTEGER, occupancy REAL, verified INTEGER, worst_ratio REAL, evidence TEXT,
  median_ns REAL, spread_ns REAL, samples_ns TEXT, sm_clock_mhz INTEGER, power_w REAL,
  temperature_c INTEGER, rendered_digest TEXT NOT NULL, compile_seconds REAL NOT NULL,
  session_id TEXT NOT NULL, created_unix_ms INTEGER NOT NULL, digest TEXT NOT NULL) STRICT;
CREATE INDEX trials_by_candidate ON trials (problem_id, device_id, template_id, config);
CREATE INDEX trials_by_session ON trials (session_id);
