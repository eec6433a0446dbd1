//! The tables of the store. `docs/store.md` tells their readers what each column means.

/// The tables of version 1.
///
/// What is asked of in SQL (outcomes, metrics, evidence, readings, times) has rows and columns;
/// what only knobstat reads (the experiment, the plan, the machine) is JSON. Rows of one attempt
/// hang on its number, which is local to the store; identities are texts that mean the same in
/// every store.
pub(super) const VERSION_1: &str = "
CREATE TABLE experiment (
    id         TEXT PRIMARY KEY,
    request    TEXT NOT NULL,
    name       TEXT NOT NULL,
    machine_id TEXT NOT NULL,
    host       TEXT,
    started    INTEGER NOT NULL,
    finished   INTEGER,
    source     TEXT NOT NULL,
    definition TEXT NOT NULL,
    machine    TEXT NOT NULL,
    plan       TEXT NOT NULL,
    omitted    TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX experiment_by_request ON experiment (request, started);
CREATE INDEX experiment_by_name ON experiment (name, started);

CREATE TABLE attempt (
    number           INTEGER PRIMARY KEY,
    id               TEXT NOT NULL UNIQUE,
    experiment       TEXT NOT NULL REFERENCES experiment (id),
    run              TEXT NOT NULL,
    block            INTEGER NOT NULL,
    boot             INTEGER NOT NULL,
    treatment        INTEGER NOT NULL,
    warmup           INTEGER,
    sequence         INTEGER NOT NULL,
    started          INTEGER NOT NULL,
    finished         INTEGER NOT NULL,
    outcome          TEXT NOT NULL,
    outcome_detail   TEXT NOT NULL,
    stopwatch        TEXT,
    wall_ns          INTEGER,
    monotonic_ns     INTEGER,
    monotonic_raw_ns INTEGER,
    boottime_ns      INTEGER,
    cpu_ns           INTEGER,
    knobs_changed    INTEGER NOT NULL,
    waited_ns        INTEGER NOT NULL,
    temperature      REAL,
    still_hot        INTEGER NOT NULL,
    notes            TEXT NOT NULL
) STRICT;

CREATE INDEX attempt_by_experiment ON attempt (experiment, sequence);

CREATE TABLE metric (
    attempt     INTEGER NOT NULL REFERENCES attempt (number),
    position    INTEGER NOT NULL,
    name        TEXT NOT NULL,
    unit        TEXT NOT NULL,
    better      TEXT NOT NULL,
    self_timed  INTEGER NOT NULL,
    value       REAL NOT NULL,
    limited_by  TEXT,
    granularity REAL,
    PRIMARY KEY (attempt, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE evidence (
    attempt  INTEGER NOT NULL REFERENCES attempt (number),
    position INTEGER NOT NULL,
    key      TEXT NOT NULL,
    scope    TEXT NOT NULL,
    unit     TEXT NOT NULL,
    value    REAL,
    reason   TEXT,
    PRIMARY KEY (attempt, position),
    CHECK ((value IS NULL) <> (reason IS NULL))
) STRICT, WITHOUT ROWID;

CREATE TABLE reading (
    attempt  INTEGER NOT NULL REFERENCES attempt (number),
    moment   TEXT NOT NULL CHECK (moment IN ('before', 'after')),
    position INTEGER NOT NULL,
    knob     TEXT NOT NULL,
    asked    TEXT,
    level    TEXT,
    reason   TEXT,
    PRIMARY KEY (attempt, moment, position),
    CHECK ((level IS NULL) <> (reason IS NULL))
) STRICT, WITHOUT ROWID;
";
