//! Knobs that programs such as ethtool(8) read and turn, once for each instance.

use knobstat_data::Level;

use crate::availability::Unavailable;
use crate::catalogue::{Commands, Entry};
use crate::files::Files;
use crate::journal::Target;
use crate::knob::{Plan, Write, with_value};
use crate::pattern::{expand, names};
use crate::special::written::missing;

/// An instance and its value now.
struct Instance {
    name: String,
    target: Target,
    value: String,
}

/// The level in force.
///
/// # Errors
/// When no instance of it is here, or the instances do not agree.
pub fn read(files: &dyn Files, entry: &Entry, commands: &Commands) -> Result<Level, Unavailable> {
    let instances = instances(files, entry, commands)?;
    let Some((first, rest)) = instances.split_first() else {
        return Err(missing(files, entry));
    };
    match rest.iter().find(|other| other.value != first.value) {
        None => Ok(Level::text(first.value.clone())),
        Some(other) => Err(Unavailable::without_remedy(format!(
            "they differ: {} has {}, {} has {}",
            first.name, first.value, other.name, other.value
        ))),
    }
}

/// What has to be set for a level.
///
/// # Errors
/// When no instance of it is here, or it has no such level.
pub fn plan(
    files: &dyn Files,
    entry: &Entry,
    commands: &Commands,
    level: &str,
) -> Result<Plan, Unavailable> {
    if let Some(levels) = &entry.levels
        && !levels.iter().any(|known| known == level)
    {
        return Err(Unavailable::without_remedy(format!(
            "{level} is no level of {}: it has {}",
            entry.name,
            levels.join(", ")
        )));
    }
    Ok(Plan {
        side_effects: commands
            .side_effects
            .iter()
            .flat_map(|pattern| expand(files, pattern))
            .collect(),
        writes: instances(files, entry, commands)?
            .into_iter()
            .map(|instance| Write {
                command: with_value(&of(&commands.set, &instance.name), level),
                target: instance.target,
                value: level.to_owned(),
                held: false,
            })
            .collect(),
    })
}

/// The instances that have the knob.
fn instances(
    files: &dyn Files,
    entry: &Entry,
    commands: &Commands,
) -> Result<Vec<Instance>, Unavailable> {
    // The programs reach the machine that this runs on, and no tree of files.
    if files.keeps_bytes() {
        return Err(Unavailable::without_remedy(format!(
            "{} belongs to the machine itself and not to a laid-out tree",
            entry.name
        )));
    }
    let found: Vec<Instance> = instance_names(files, &commands.each)
        .into_iter()
        .filter_map(|name| {
            let target = Target::Command {
                knob: format!("{} of {name}", entry.name),
                get: of(&commands.get, &name),
                restore: of(&commands.set, &name),
            };
            let value = target.value(&target.read(files).ok()?);
            Some(Instance {
                name,
                target,
                value,
            })
        })
        .collect();
    if found.is_empty() {
        Err(missing(files, entry))
    } else {
        Ok(found)
    }
}

/// What stands in the place of the path's `*`, where the whole path exists.
fn instance_names(files: &dyn Files, each: &str) -> Vec<String> {
    let Some((before, after)) = each.split_once('*') else {
        return Vec::new();
    };
    let mut found = names(files, before.trim_end_matches('/'), "", "");
    found.retain(|name| files.exists(&format!("{before}{name}{after}")));
    found
}

fn of(words: &[String], instance: &str) -> Vec<String> {
    words
        .iter()
        .map(|word| word.replace("{instance}", instance))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;
    use std::process::Command;

    use super::*;
    use crate::catalogue::{Catalogue, Mechanism};

    /// Prints what ethtool(8) prints, with the values that it was told to keep.
    const ETHTOOL: &str = r#"#!/bin/sh
cd "$(dirname "$0")"
kept() { cat "./$1" 2>/dev/null || echo "$2"; }
case $1 in
-C | -G | -K | -L) echo "$4" >"$1.$3"; exit ;;
-c) cat <<END
Coalesce parameters for $2:
Adaptive RX: $(kept -C.adaptive-rx off)  TX: off
stats-block-usecs:	n/a
sample-interval:	n/a

rx-usecs:	$(kept -C.rx-usecs 3)
rx-frames:	0
rx-usecs-irq:	0
rx-usecs-low:	0
tx-usecs:	72
END
;;
-g) cat <<END
Ring parameters for $2:
Pre-set maximums:
RX:			4096
RX Mini:		n/a
TX:			4096
Current hardware settings:
RX:			$(kept -G.rx 256)
RX Mini:		n/a
TX:			256
RX Buf Len:		n/a
END
;;
-k) cat <<END
Features for $2:
rx-checksumming: on
tcp-segmentation-offload: $(kept -K.tso on)
	tx-tcp-segmentation: on
	tx-tcp-ecn-segmentation: off [fixed]
generic-segmentation-offload: on
generic-receive-offload: $(kept -K.gro on)
large-receive-offload: off [fixed]
rx-gro-hw: off [fixed]
END
;;
-l) cat <<END
Channel parameters for $2:
Pre-set maximums:
RX:		n/a
TX:		n/a
Other:		1
Combined:	8
Current hardware settings:
RX:		n/a
TX:		n/a
Other:		1
Combined:	$(kept -L.combined 8)
END
;;
esac
"#;

    /// Runs words with nothing but the stand-in and the system's own tools.
    fn run(directory: &Path, words: &[String]) -> String {
        let path = format!("{}:/usr/bin:/bin", directory.display());
        let output = Command::new(&words[0])
            .args(&words[1..])
            .env("PATH", path)
            .output()
            .unwrap();
        assert!(output.status.success(), "{words:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    #[test]
    fn every_command_of_the_catalogue_reads_what_ethtool_prints_and_what_was_set() {
        let directory = tempfile::tempdir().unwrap();
        let ethtool = directory.path().join("ethtool");
        let text = directory.path().join("text");
        std::fs::write(&text, ETHTOOL).unwrap();
        // By another process: what is open for writing here would be so in whatever another test
        // starts at that moment, and cannot be executed (ETXTBSY).
        let mut install = Command::new("install");
        let installed = install
            .args(["-m", "755"])
            .arg(&text)
            .arg(&ethtool)
            .status();
        assert!(installed.unwrap().success());
        // What it is at first, and what it is set to.
        let values = BTreeMap::from([
            ("rx_usecs", ("3", "50")),
            ("rx_adaptive", ("off", "on")),
            ("rx_ring", ("256", "1024")),
            ("channels", ("8", "2")),
            ("gro", ("on", "off")),
            ("tso", ("on", "off")),
        ]);
        let mut known: Vec<&str> = Vec::new();
        for entry in Catalogue::linux().entries() {
            let Mechanism::Commands(commands) = &entry.mechanism else {
                continue;
            };
            let (first, second) = values[entry.name.as_str()];
            let get = of(&commands.get, "eth0");
            assert_eq!(run(directory.path(), &get), first, "{}", entry.name);
            let set = with_value(&of(&commands.set, "eth0"), second);
            // The name is looked up by the stand-in's path, as sh would.
            let set: Vec<String> = ["sh", "-c", "exec \"$@\"", "sh"]
                .map(str::to_owned)
                .into_iter()
                .chain(set)
                .collect();
            run(directory.path(), &set);
            assert_eq!(run(directory.path(), &get), second, "{}", entry.name);
            known.push(&entry.name);
        }
        assert_eq!(known.len(), values.len(), "{known:?}");
    }
}
