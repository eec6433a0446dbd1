//! The doctor: how fit a machine is for measuring, one finding a file.
//!
//! It only reads, works without root, in containers and in virtual machines, and says what it
//! could not see. It knows nothing of experiments.

mod clock_source;
mod governor;
mod idle_states;
mod load;
mod owners;
mod pressure;
mod processor;
mod real_time;
mod run_queue;
mod smt;
mod steal;
mod thermal;
mod tick;
mod timer_resolution;
mod turbo;
mod virtualization;

use knobstat_sys::root::Root;
use serde::Serialize;

/// How much a finding matters to somebody who is about to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grade {
    /// As it should be.
    Good,
    /// It could not be seen.
    Unseen,
    /// Worth knowing; results stay usable.
    Notice,
    /// It widens every interval, or bends results.
    Warning,
}

/// One thing the doctor looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What was looked at: `clock source`.
    pub topic: &'static str,
    /// How much it matters.
    pub grade: Grade,
    /// What was seen, with figures, and where.
    pub evidence: String,
    /// What it does to results; empty where nothing.
    pub effect: String,
    /// What to do about it, a command where there is one; empty where nothing.
    pub remedy: String,
}

impl Finding {
    fn good(topic: &'static str, evidence: impl Into<String>) -> Self {
        Self {
            topic,
            grade: Grade::Good,
            evidence: evidence.into(),
            effect: String::new(),
            remedy: String::new(),
        }
    }

    fn unseen(topic: &'static str, evidence: impl Into<String>) -> Self {
        Self {
            grade: Grade::Unseen,
            ..Self::good(topic, evidence)
        }
    }

    fn notice(
        topic: &'static str,
        evidence: impl Into<String>,
        effect: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            topic,
            grade: Grade::Notice,
            evidence: evidence.into(),
            effect: effect.into(),
            remedy: remedy.into(),
        }
    }

    fn warning(
        topic: &'static str,
        evidence: impl Into<String>,
        effect: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            grade: Grade::Warning,
            ..Self::notice(topic, evidence, effect, remedy)
        }
    }
}

/// Every finding, what matters most first.
pub fn examine(root: &Root) -> Vec<Finding> {
    let mut findings = vec![
        processor::examine(root),
        virtualization::examine(root),
        load::examine(root),
        run_queue::examine(root),
        pressure::examine(root),
        steal::examine(root),
        thermal::examine(root),
        clock_source::examine(root),
        timer_resolution::examine(root),
        tick::examine(root),
        real_time::examine(root),
        governor::examine(root),
        turbo::examine(root),
        idle_states::examine(root),
        smt::examine(root),
        owners::examine(root),
    ];
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.grade));
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine of these files in a directory of its own.
    pub(super) fn machine(files: &[(&str, &str)]) -> (tempfile::TempDir, Root) {
        let directory = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = directory.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let root = Root::laid_out(directory.path()).unwrap();
        (directory, root)
    }

    #[test]
    fn an_empty_machine_has_a_finding_for_everything_and_no_panic() {
        let (_directory, root) = machine(&[]);
        let findings = examine(&root);
        assert_eq!(findings.len(), 16);
        for finding in &findings {
            assert!(!finding.evidence.is_empty(), "{}", finding.topic);
        }
    }

    #[test]
    fn what_matters_most_comes_first() {
        let (_directory, root) = machine(&[
            ("proc/cpuinfo", "flags\t\t: fpu hypervisor\n"),
            ("proc/loadavg", "0.01 0.02 0.00 1/100 12\n"),
            ("sys/devices/system/cpu/online", "0-1\n"),
        ]);
        let grades: Vec<Grade> = examine(&root).iter().map(|finding| finding.grade).collect();
        assert!(
            grades.windows(2).all(|pair| pair[0] >= pair[1]),
            "{grades:?}"
        );
        assert_eq!(grades.first(), Some(&Grade::Warning));
    }

    #[test]
    fn a_finding_that_matters_says_what_it_does_and_what_to_do() {
        for files in [
            vec![
                ("proc/cpuinfo", "flags : hypervisor\n"),
                ("proc/loadavg", "9.0 9 9 8/100 1\n"),
            ],
            vec![
                (
                    "sys/devices/system/cpu/cpufreq/policy0/scaling_governor",
                    "powersave\n",
                ),
                (
                    "sys/devices/system/clocksource/clocksource0/current_clocksource",
                    "hpet\n",
                ),
                ("sys/devices/system/cpu/cpufreq/boost", "1\n"),
                ("sys/devices/system/cpu/smt/active", "1\n"),
            ],
        ] {
            let (_directory, root) = machine(&files);
            for finding in examine(&root) {
                if finding.grade >= Grade::Notice {
                    assert!(!finding.effect.is_empty(), "{}", finding.topic);
                    assert!(!finding.remedy.is_empty(), "{}", finding.topic);
                }
            }
        }
    }
}
