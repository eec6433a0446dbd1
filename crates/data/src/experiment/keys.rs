//! Every key of an experiment file but the parameters of the workloads, which are in the
//! workloads' own schemas.
//!
//! The reader accepts these keys and no others, and a test holds the documentation to them.

/// A table of an experiment file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// The file itself.
    File,
    /// `[workload]`, which also has the parameters of its kind.
    Workload,
    /// One metric of `[workload]`: `metrics.NAME`.
    Metric,
    /// `[knobs.NAME]`.
    Knob,
    /// `[design]`.
    Design,
    /// `design.stop`.
    Stop,
    /// `[target]`.
    Target,
    /// `[analysis]`.
    Analysis,
}

/// A key and what its absence means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// The key.
    pub name: &'static str,
    /// The default in words, as the documentation prints it; empty where absence means nothing.
    pub default: &'static str,
}

const fn key(name: &'static str, default: &'static str) -> Key {
    Key { name, default }
}

impl Table {
    /// Every table.
    pub const ALL: [Self; 8] = [
        Self::File,
        Self::Workload,
        Self::Metric,
        Self::Knob,
        Self::Design,
        Self::Stop,
        Self::Target,
        Self::Analysis,
    ];

    /// How the documentation and the messages call it.
    pub fn title(self) -> &'static str {
        match self {
            Self::File => "the file",
            Self::Workload => "[workload]",
            Self::Metric => "workload.metrics.NAME",
            Self::Knob => "[knobs.NAME]",
            Self::Design => "[design]",
            Self::Stop => "design.stop",
            Self::Target => "[target]",
            Self::Analysis => "[analysis]",
        }
    }

    /// Its keys, in the order of the documentation.
    pub fn keys(self) -> &'static [Key] {
        match self {
            Self::File => {
                const {
                    &[
                        key("name", "required"),
                        key("description", ""),
                        key("tags", "[]"),
                        key("workload", "required"),
                        key("factors", "required"),
                        key("knobs", ""),
                        key("fixed", ""),
                        key("design", ""),
                        key("target", ""),
                        key("analysis", ""),
                    ]
                }
            }
            Self::Workload => {
                const {
                    &[
                        key("kind", "required"),
                        key("warmup_runs", "1 for a command, else 0"),
                    ]
                }
            }
            Self::Metric => {
                const {
                    &[
                        key("regex", "this or `json`"),
                        key("json", "this or `regex`"),
                        key("unit", "\"1\""),
                        key("better", "\"lower\"; required where verdicts are asked for"),
                        key("self_timed", "true"),
                    ]
                }
            }
            Self::Knob => {
                const {
                    &[
                        key("get", "required"),
                        key("set", "required"),
                        key("restore", "as `set`"),
                        key("scope", "\"runtime\""),
                    ]
                }
            }
            Self::Design => {
                const {
                    &[
                        key("replicates", "6"),
                        key("stop", "none"),
                        key("order", "\"randomized-blocks\""),
                        key("seed", "drawn and recorded"),
                        key("exclude", "[]"),
                        key("settle", "200ms after a change of a knob, else 0"),
                        key("cool_below", "none"),
                        key("unavailable", "\"skip\""),
                        key("max_repeats", "3"),
                        key("on_failure", "\"continue\""),
                    ]
                }
            }
            Self::Stop => {
                const {
                    &[
                        key("half_width", "this or `margin`"),
                        key("margin", "this or `half_width`"),
                        key("max_replicates", "40"),
                        key("min_replicates", "5"),
                    ]
                }
            }
            Self::Target => {
                const {
                    &[
                        key("kind", "\"local\""),
                        key("machine", "required where `kind` is `\"model\"`"),
                    ]
                }
            }
            Self::Analysis => {
                const {
                    &[
                        key("metric", "the workload's own"),
                        key("better", "the metric's own"),
                        key("baseline", "first level of each factor"),
                        key("confidence", "95"),
                        key("margin", "none"),
                        key("correction", "\"holm\""),
                        key("trust_self_timed", "false"),
                    ]
                }
            }
        }
    }

    /// Keys that are known and cannot be had yet, each with what it belongs to.
    pub fn later_keys(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Target => &[
                ("kernel", "the target kind `vm`"),
                ("cpus", "the target kind `vm`"),
                ("memory", "the target kind `vm`"),
                ("time", "the target kind `vm`"),
                ("accelerator", "the target kind `vm`"),
                ("acpi_tables", "the target kind `vm`"),
                ("append", "the target kind `vm`"),
            ],
            _ => &[],
        }
    }
}
