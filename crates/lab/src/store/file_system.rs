//! Whether a directory lies on a file system on which SQLite's write-ahead log cannot be
//! trusted, because its shared memory is not shared between hosts.

use std::path::Path;

/// The `f_type` of statfs(2) of file systems that are reached over a network, or through a
/// process of the user's that may well reach over one. The numbers are those of
/// linux/magic.h and of the file systems' own headers.
const REMOTE: &[i64] = &[
    0x6969,      // NFS
    0x517b,      // SMB
    0xfe53_4d42, // SMB 2 and later
    0xff53_4d42, // CIFS
    0x6573_5546, // FUSE
    0x0102_1997, // 9P
    0x5346_414f, // AFS (OpenAFS)
    0x6b41_4653, // AFS (the kernel's)
    0x7375_7245, // Coda
    0x00c3_6400, // Ceph
    0x7461_636f, // OCFS2
    0x0116_1970, // GFS2
    0x0bd0_0bd0, // Lustre
    0x1983_0326, // BeeGFS
    0x4750_4653, // GPFS
    0x786f_4256, // a shared folder of VirtualBox
];

/// Whether the directory lies on a file system of another machine. One that cannot be asked is
/// taken for such, because the rollback journal is right everywhere and only slower.
pub(super) fn is_remote(directory: &Path) -> bool {
    match rustix::fs::statfs(directory) {
        Ok(status) => is_remote_type(status.f_type),
        Err(_) => true,
    }
}

/// `f_type` is signed on some architectures: only its lower 32 bits are the number.
fn is_remote_type(f_type: i64) -> bool {
    REMOTE.contains(&(f_type & 0xffff_ffff))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_extended_type_is_recognised() {
        assert!(is_remote_type(i64::from(0xff53_4d42_u32 as i32)));
        assert!(is_remote_type(0x6969));
        // ext4, tmpfs
        assert!(!is_remote_type(0xef53));
        assert!(!is_remote_type(0x0102_1994));
    }

    #[test]
    fn procfs_is_local_and_an_unknown_place_is_not_trusted() {
        assert!(!is_remote(Path::new("/proc")));
        assert!(is_remote(Path::new("/proc/no such directory")));
    }
}
