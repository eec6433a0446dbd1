//! Is the processor hot, and was it slowed down for it?

use knobstat_sys::root::Root;

use super::Finding;

const TOPIC: &str = "heat";
const ZONES: &str = "/sys/class/thermal";
const CPUS: &str = "/sys/devices/system/cpu";

/// How near to the point at which the machine slows down counts as hot, in thousandths of a degree.
const NEAR: i64 = 10_000;

/// The hottest zone of /sys/class/thermal with the trip point that slows the machine down, and the
/// counters of thermal_throttle.
pub fn examine(root: &Root) -> Finding {
    let hottest = zones(root).into_iter().max_by_key(|zone| zone.temperature);
    let throttled = throttled(root);
    if hottest.is_none() && throttled.is_none() {
        return Finding::unseen(
            TOPIC,
            "no temperature is visible: the host or the firmware knows it",
        );
    }
    let mut evidence = Vec::new();
    if let Some(zone) = &hottest {
        let degrees = zone.temperature as f64 / 1000.0;
        evidence.push(format!("{} at {degrees:.0} C", zone.name));
    }
    if let Some(count) = throttled {
        evidence.push(format!("slowed down for heat {count} times since boot"));
    }
    let evidence = evidence.join(", ");
    let is_hot = hottest.is_some_and(|zone| {
        zone.limit
            .is_some_and(|limit| zone.temperature + NEAR >= limit)
    });
    if is_hot || throttled.is_some_and(|count| count > 0) {
        Finding::warning(
            TOPIC,
            evidence,
            "a hot processor takes turbo and then frequency away, so that later runs are slower",
            "let it cool before each run with `cool_below = \"60C\"` in [design], and look at the fans",
        )
    } else {
        Finding::good(TOPIC, evidence)
    }
}

struct Zone {
    name: String,
    temperature: i64,
    /// Where the machine begins to slow down.
    limit: Option<i64>,
}

fn zones(root: &Root) -> Vec<Zone> {
    let number = |path: &str| root.read(path).ok()?.trim().parse::<i64>().ok();
    root.list(ZONES)
        .unwrap_or_default()
        .iter()
        .filter(|name| name.starts_with("thermal_zone"))
        .filter_map(|name| {
            let zone = format!("{ZONES}/{name}");
            let limit = (0..16)
                .filter(|trip| {
                    root.read(&format!("{zone}/trip_point_{trip}_type"))
                        .is_ok_and(|kind| kind == "passive")
                })
                .filter_map(|trip| number(&format!("{zone}/trip_point_{trip}_temp")))
                .filter(|limit| *limit > 0)
                .min();
            Some(Zone {
                name: root
                    .read(&format!("{zone}/type"))
                    .unwrap_or_else(|_| name.clone()),
                temperature: number(&format!("{zone}/temp"))?,
                limit,
            })
        })
        .collect()
}

/// How often any package or core was slowed down; none where it is not counted.
fn throttled(root: &Root) -> Option<u64> {
    let counts: Vec<u64> = root
        .list(CPUS)
        .unwrap_or_default()
        .iter()
        .flat_map(|cpu| {
            ["core_throttle_count", "package_throttle_count"]
                .map(|file| format!("{CPUS}/{cpu}/thermal_throttle/{file}"))
        })
        .filter_map(|path| root.read(&path).ok()?.trim().parse().ok())
        .collect();
    // Every CPU of a package counts the same events.
    counts.into_iter().max()
}

#[cfg(test)]
mod tests {
    use super::super::Grade;
    use super::super::tests::machine;
    use super::*;

    #[test]
    fn heat_is_told_by_the_point_at_which_the_machine_slows_down() {
        let zone = |temperature: &'static str| {
            vec![
                ("sys/class/thermal/thermal_zone0/type", "x86_pkg_temp\n"),
                ("sys/class/thermal/thermal_zone0/temp", temperature),
                (
                    "sys/class/thermal/thermal_zone0/trip_point_0_type",
                    "passive\n",
                ),
                (
                    "sys/class/thermal/thermal_zone0/trip_point_0_temp",
                    "95000\n",
                ),
            ]
        };
        for (temperature, grade) in [("54000\n", Grade::Good), ("88000\n", Grade::Warning)] {
            let (_tree, root) = machine(&zone(temperature));
            let finding = examine(&root);
            assert_eq!(finding.grade, grade);
            assert!(finding.evidence.contains("x86_pkg_temp at"));
        }
        let mut slowed = zone("50000\n");
        slowed.push((
            "sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count",
            "3\n",
        ));
        let (_tree, root) = machine(&slowed);
        assert_eq!(examine(&root).grade, Grade::Warning);
    }
}
