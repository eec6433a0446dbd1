//! Boots: which treatments share a boot of the machine.

use std::collections::HashMap;

use crate::words::{Setting, Treatment};

/// The treatments that can run between two reboots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BootGroup {
    /// The settings of the boot, in the order of the factors.
    pub settings: Vec<Setting>,
    /// The treatments' indices, in the order as written.
    pub treatments: Vec<usize>,
}

/// The treatments by boot, in the order in which each boot is first needed. One group where no
/// factor needs a reboot.
pub fn group_by_boot<'t>(
    treatments: impl IntoIterator<Item = &'t Treatment>,
    boot_factors: &[String],
) -> Vec<BootGroup> {
    let mut groups: Vec<BootGroup> = Vec::new();
    let mut places: HashMap<Vec<Setting>, usize> = HashMap::new();
    for (index, treatment) in treatments.into_iter().enumerate() {
        let settings: Vec<Setting> = if boot_factors.is_empty() {
            Vec::new()
        } else {
            treatment
                .settings
                .iter()
                .filter(|setting| boot_factors.contains(&setting.factor))
                .cloned()
                .collect()
        };
        match places.get(&settings) {
            Some(&place) => groups[place].treatments.push(index),
            None => {
                places.insert(settings.clone(), groups.len());
                groups.push(BootGroup {
                    settings,
                    treatments: vec![index],
                });
            }
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn treatments_share_a_boot_when_its_settings_agree() {
        let treatments: Vec<Treatment> = ["off", "on"]
            .iter()
            .flat_map(|nohz| {
                [64, 128].map(|size| {
                    Treatment::new([Setting::new("size", size), Setting::new("nohz", *nohz)])
                })
            })
            .collect();
        let groups = group_by_boot(&treatments, &["nohz".to_owned()]);
        assert_eq!(groups.len(), 2);
        assert_eq!(groups[0].settings, [Setting::new("nohz", "off")]);
        assert_eq!(groups[0].treatments, [0, 1]);
        assert_eq!(groups[1].treatments, [2, 3]);

        let together = group_by_boot(&treatments, &[]);
        assert_eq!(together.len(), 1);
        assert_eq!(together[0].treatments, [0, 1, 2, 3]);
        assert!(together[0].settings.is_empty());
    }
}
