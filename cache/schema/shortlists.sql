-- SPDX-FileCopyrightText: 2026 The Kiln authors
-- SPDX-License-Identifier: Apache-2.0
-- What look-ups and lists read instead of all trials. Everything here is derived
-- from `trials` and rebuilt where it is missing or wrong.

-- One row for each problem and device that has trials. An empty digest says that the row is out of
-- date.
CREATE TABLE shortlists (
  shortlist_id INTEGER PRIMARY KEY,
  problem_id   INTEGER NOT NULL REFERENCES problems,
  device_id    INTEGER NOT NULL REFERENCES devices,
  trials       INTEGER NOT NULL DEFAULT 0,
  ok           INTEGER NOT NULL DEFAULT 0,
  provenance   TEXT NOT NULL DEFAULT 'compiled',
  contenders   TEXT NOT NULL DEFAULT '[]',
  digest       TEXT NOT NULL DEFAULT '',
  UNIQUE (problem_id, device_id)
) STRICT;
CREATE INDEX shortlists_by_device ON shortlists (device_id, problem_id);
CREATE INDEX shortlists_out_of_date ON shortlists (problem_id, device_id) WHERE digest = '';

-- How many problems of a kind a device has shortlists of, and a mark of which they are.
CREATE TABLE families (
  kind      TEXT NOT NULL,
  device_id INTEGER NOT NULL REFERENCES devices,
  problems  INTEGER NOT NULL,
  mark      INTEGER NOT NULL,
  digest    TEXT NOT NULL,
  PRIMARY KEY (kind, device_id)
) STRICT, WITHOUT ROWID;

-- Kiln keeps the shortlists up to date itself, with triggers disabled. These are for people who
-- change trials by hand: what they touch is read from the trials until Kiln has rebuilt it.
CREATE TRIGGER trials_added AFTER INSERT ON trials BEGIN
  INSERT INTO shortlists (problem_id, device_id) SELECT NEW.problem_id, NEW.device_id
    WHERE NOT EXISTS (SELECT 1 FROM shortlists WHERE problem_id = NEW.problem_id
                        AND device_id = NEW.device_id);
  UPDATE shortlists SET digest = ''
    WHERE problem_id = NEW.problem_id AND device_id = NEW.device_id;
END;
CREATE TRIGGER trials_changed AFTER UPDATE ON trials BEGIN
  INSERT INTO shortlists (problem_id, device_id) SELECT NEW.problem_id, NEW.device_id
    WHERE NOT EXISTS (SELECT 1 FROM shortlists WHERE problem_id = NEW.problem_id
                        AND device_id = NEW.device_id);
  UPDATE shortlists SET digest = ''
    WHERE (problem_id, device_id) IN
      (VALUES (OLD.problem_id, OLD.device_id), (NEW.problem_id, NEW.device_id));
END;
CREATE TRIGGER trials_removed AFTER DELETE ON trials BEGIN
  UPDATE shortlists SET digest = ''
    WHERE problem_id = OLD.problem_id AND device_id = OLD.device_id;
END;
