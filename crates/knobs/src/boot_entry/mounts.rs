//! Which file system a path lies on, from the text of /proc/self/mountinfo (proc(5)).

/// A file system as it is mounted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// Its type, as in `ext4`.
    pub kind: String,
    /// What it lies on, as in `/dev/sda1`.
    pub source: String,
}

/// The file system of a path: that mounted nearest above it, the last one where several are.
pub fn mount_of(mountinfo: &str, path: &str) -> Option<Mount> {
    let mut nearest: Option<(usize, Mount)> = None;
    for line in mountinfo.lines() {
        let Some((place, mount)) = parse(line) else {
            continue;
        };
        let is_above = place == "/"
            || path
                .strip_prefix(&place)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        if is_above
            && nearest
                .as_ref()
                .is_none_or(|(length, _)| place.len() >= *length)
        {
            nearest = Some((place.len(), mount));
        }
    }
    nearest.map(|(_, mount)| mount)
}

/// The place and the file system of a line. Optional fields stand before a single `-`.
fn parse(line: &str) -> Option<(String, Mount)> {
    let (before, after) = line.split_once(" - ")?;
    let place = before.split(' ').nth(4)?;
    let mut after = after.split(' ');
    Some((
        place.replace("\\040", " "),
        Mount {
            kind: after.next()?.to_owned(),
            source: after.next()?.to_owned(),
        },
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_mount_above_counts() {
        let table = "\
22 1 8:2 / / rw,relatime shared:1 - ext4 /dev/sda2 rw
30 22 8:1 / /boot rw shared:2 master:1 - vfat /dev/sda1 rw
31 22 0:5 / /bootstrap rw - tmpfs none rw
";
        let kind = |path| mount_of(table, path).map(|mount| mount.kind);
        assert_eq!(kind("/boot/grub/grubenv").as_deref(), Some("vfat"));
        assert_eq!(kind("/boot").as_deref(), Some("vfat"));
        assert_eq!(kind("/etc").as_deref(), Some("ext4"));
        assert_eq!(mount_of("", "/boot"), None);
    }
}
