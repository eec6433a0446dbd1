//! The kernels that are installed in /boot, by their release.

use knobstat_sys::root::Root;

/// How distributions name a kernel's image and its initial file system, before the release and
/// after it.
const IMAGES: [&str; 2] = ["/boot/vmlinuz-", "/boot/bzImage-"];
const INITIAL: [(&str, &str); 3] = [
    ("/boot/initrd.img-", ""),
    ("/boot/initramfs-", ".img"),
    ("/boot/initrd-", ""),
];

/// An installed kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// As `uname -r` prints it.
    pub release: String,
    /// Its image.
    pub image: String,
    /// Its initial file system, where it has one.
    pub initrd: Option<String>,
}

impl Kernel {
    /// The kernel of a release, where it is installed.
    pub fn of_release(root: &Root, release: &str) -> Option<Self> {
        if release.is_empty() || release.contains('/') {
            return None;
        }
        let image = IMAGES
            .iter()
            .map(|before| format!("{before}{release}"))
            .find(|path| root.exists(path))?;
        let initrd = INITIAL
            .iter()
            .map(|(before, after)| format!("{before}{release}{after}"))
            .find(|path| root.exists(path));
        Some(Self {
            release: release.to_owned(),
            image,
            initrd,
        })
    }

    /// The name of the image without its directories.
    pub fn image_name(&self) -> &str {
        self.image.rsplit('/').next().unwrap_or(&self.image)
    }

    /// The tick rate that it was built with, where its configuration is installed too.
    pub fn hz(&self, root: &Root) -> Option<u32> {
        let release = &self.release;
        [
            format!("/boot/config-{release}"),
            format!("/lib/modules/{release}/config"),
        ]
        .iter()
        .find_map(|path| root.read(path).ok())?
        .lines()
        .find_map(|line| line.strip_prefix("CONFIG_HZ=")?.parse().ok())
    }
}

/// Every installed kernel, by name.
pub fn installed(root: &Root) -> Vec<Kernel> {
    let names = root.list("/boot").unwrap_or_default();
    let releases = names.iter().filter_map(|name| {
        IMAGES
            .iter()
            .find_map(|before| name.strip_prefix(before.strip_prefix("/boot/")?))
    });
    releases
        .filter_map(|release| Kernel::of_release(root, release))
        .collect()
}
