//! The package's temperature, where the machine has a sensor for it.

use knobstat_data::Celsius;
use knobstat_sys::root::Root;

/// Sensors that measure a whole package, by the name of their driver; with a label where the
/// driver has other sensors too. From the kernel's hwmon/coretemp.rst and hwmon/k10temp.rst.
const DRIVERS: [(&str, Option<&str>); 4] = [
    ("coretemp", Some("Package id")),
    ("k10temp", Some("Tctl")),
    ("zenpower", Some("Tdie")),
    ("cpu_thermal", None),
];

/// Thermal zones that are a package, by type.
const ZONES: [&str; 4] = ["x86_pkg_temp", "cpu-thermal", "cpu_thermal", "soc-thermal"];

/// Every sensor of a package.
#[derive(Clone, Debug)]
pub struct Thermometer {
    root: Root,
    inputs: Vec<String>,
}

impl Thermometer {
    /// Finds the sensors.
    pub fn find(root: &Root) -> Self {
        let mut inputs = hardware_monitors(root);
        if inputs.is_empty() {
            inputs = zones(root);
        }
        Self {
            root: root.clone(),
            inputs,
        }
    }

    /// The temperature of the hottest package.
    ///
    /// # Errors
    /// Why there is none, in words.
    pub fn read(&self) -> Result<Celsius, String> {
        let hottest = self
            .inputs
            .iter()
            .filter_map(|input| self.root.read(input).ok()?.trim().parse::<f64>().ok())
            .filter(|millidegrees| millidegrees.is_finite())
            .reduce(f64::max);
        match hottest {
            Some(millidegrees) => Ok(Celsius(millidegrees / 1000.0)),
            None if self.inputs.is_empty() => {
                Err("this machine shows no sensor of the package's temperature".to_owned())
            }
            None => Err("the package's temperature cannot be read".to_owned()),
        }
    }
}

fn hardware_monitors(root: &Root) -> Vec<String> {
    const CLASS: &str = "/sys/class/hwmon";
    let mut found = Vec::new();
    for monitor in root.list(CLASS).unwrap_or_default() {
        let directory = format!("{CLASS}/{monitor}");
        let name = root.read(&format!("{directory}/name")).unwrap_or_default();
        let Some((_, label)) = DRIVERS.iter().find(|(driver, _)| *driver == name) else {
            continue;
        };
        for file in root.list(&directory).unwrap_or_default() {
            let Some(sensor) = file.strip_suffix("_input") else {
                continue;
            };
            if !sensor.starts_with("temp") {
                continue;
            }
            let own = root
                .read(&format!("{directory}/{sensor}_label"))
                .unwrap_or_default();
            if label.is_none_or(|label| own.starts_with(label)) {
                found.push(format!("{directory}/{file}"));
            }
        }
    }
    found
}

fn zones(root: &Root) -> Vec<String> {
    const CLASS: &str = "/sys/class/thermal";
    root.list(CLASS)
        .unwrap_or_default()
        .into_iter()
        .map(|zone| format!("{CLASS}/{zone}"))
        .filter(|zone| {
            root.read(&format!("{zone}/type"))
                .is_ok_and(|kind| ZONES.contains(&kind.as_str()))
        })
        .map(|zone| format!("{zone}/temp"))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn laid_out(files: &[(&str, &str)]) -> (tempfile::TempDir, Root) {
        let directory = tempfile::tempdir().unwrap();
        for (path, content) in files {
            let path = directory.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let root = Root::laid_out(directory.path()).unwrap();
        (directory, root)
    }

    #[test]
    fn the_hottest_package_counts_and_cores_do_not() {
        let (_directory, root) = laid_out(&[
            ("sys/class/hwmon/hwmon0/name", "coretemp\n"),
            ("sys/class/hwmon/hwmon0/temp1_label", "Package id 0\n"),
            ("sys/class/hwmon/hwmon0/temp1_input", "51000\n"),
            ("sys/class/hwmon/hwmon0/temp2_label", "Core 0\n"),
            ("sys/class/hwmon/hwmon0/temp2_input", "99000\n"),
            ("sys/class/hwmon/hwmon1/name", "coretemp\n"),
            ("sys/class/hwmon/hwmon1/temp1_label", "Package id 1\n"),
            ("sys/class/hwmon/hwmon1/temp1_input", "53500\n"),
            ("sys/class/hwmon/hwmon2/name", "nvme\n"),
            ("sys/class/hwmon/hwmon2/temp1_input", "70000\n"),
        ]);
        assert_eq!(Thermometer::find(&root).read(), Ok(Celsius(53.5)));
    }

    #[test]
    fn a_thermal_zone_will_do() {
        let (_directory, root) = laid_out(&[
            ("sys/class/thermal/thermal_zone0/type", "acpitz\n"),
            ("sys/class/thermal/thermal_zone0/temp", "20000\n"),
            ("sys/class/thermal/thermal_zone1/type", "x86_pkg_temp\n"),
            ("sys/class/thermal/thermal_zone1/temp", "44000\n"),
        ]);
        assert_eq!(Thermometer::find(&root).read(), Ok(Celsius(44.0)));
    }

    #[test]
    fn without_a_sensor_there_is_a_reason() {
        let (_directory, root) = laid_out(&[]);
        assert!(Thermometer::find(&root).read().is_err());
        let (directory, root) = laid_out(&[
            ("sys/class/thermal/thermal_zone1/type", "x86_pkg_temp\n"),
            ("sys/class/thermal/thermal_zone1/temp", "44000\n"),
        ]);
        let thermometer = Thermometer::find(&root);
        let sensor = "sys/class/thermal/thermal_zone1/temp";
        fs::remove_file(directory.path().join(sensor)).unwrap();
        assert!(thermometer.read().is_err());
    }
}
