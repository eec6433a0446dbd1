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
    /// `[target]`, with the keys of every kind that has no table of its own.
    Target,
    /// `[target]` of kind `vm`.
    Guest,
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
    pub const ALL: [Self; 9] = [
        Self::File,
        Self::Workload,
        Self::Metric,
        Self::Knob,
        Self::Design,
        Self::Stop,
        Self::Target,
        Self::Guest,
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
            Self::Guest => "[target] of kind \"vm\"",
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
            Self::Guest => {
                const {
                    &[
                        key("kernel", "the newest of the cache"),
                        key("cpus", "1"),
                        key("memory", "\"512MiB\""),
                        key("time", "\"virtual\"; \"wall\" with kvm"),
                        key("accelerator", "\"tcg\""),
                        key("acpi_tables", "[]"),
                        key("append", "\"\""),
                        key("files", "[]"),
                        key("modules", "[]"),
                        key("boot_timeout", "\"2m\""),
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
}
