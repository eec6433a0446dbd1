//! The ACPI tables that come with the program, for guests that have idle states and frequencies.
//!
//! Each is there as the source that a person reads (`guest/acpi/NAME.asl`) and as what `iasl` made
//! of it, so that a machine without `iasl` needs none. Nothing here knows what a table says.

/// A table: its name and its bytes, as QEMU's `-acpitable file=` takes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AcpiTable {
    /// Its name in an experiment file.
    pub name: &'static str,
    /// The table in ACPI machine language, header and all.
    pub bytes: &'static [u8],
}

/// Every table that comes with the program.
pub const SHIPPED: &[AcpiTable] = &[
    AcpiTable {
        name: "idle-states-1cpu",
        bytes: include_bytes!("../guest/acpi/idle-states-1cpu.aml"),
    },
    AcpiTable {
        name: "idle-states-2cpu",
        bytes: include_bytes!("../guest/acpi/idle-states-2cpu.aml"),
    },
];

/// The table of a name.
pub fn shipped(name: &str) -> Option<&'static AcpiTable> {
    SHIPPED.iter().find(|table| table.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use std::process::{Command, Stdio};

    /// Where the header of a table has its length, its checksum, and who compiled it (ACPI 6.5,
    /// section 5.2.6).
    const LENGTH: std::ops::Range<usize> = 4..8;
    const CHECKSUM: usize = 9;
    const COMPILER: std::ops::Range<usize> = 28..36;

    #[test]
    fn every_table_is_whole() {
        for table in SHIPPED {
            let length = u32::from_le_bytes(table.bytes[LENGTH].try_into().unwrap());
            assert_eq!(length as usize, table.bytes.len(), "{}", table.name);
            let sum = table
                .bytes
                .iter()
                .fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
            assert_eq!(sum, 0, "{}", table.name);
            assert!(table.bytes.starts_with(b"SSDT"), "{}", table.name);
        }
        assert!(shipped("idle-states-2cpu").is_some());
        assert!(shipped("idle-states").is_none());
    }

    #[test]
    fn tables_are_what_their_sources_say() {
        let is_there = Command::new("iasl")
            .arg("-v")
            .stdout(Stdio::null())
            .status();
        if is_there.is_err() {
            assert!(
                std::env::var_os("KNOBSTAT_REQUIRE").is_none(),
                "iasl (acpica-tools) is missing"
            );
            println!("skipped: iasl (acpica-tools) is missing");
            return;
        }
        let compiled = tempfile::tempdir().unwrap();
        for table in SHIPPED {
            let source = Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("guest/acpi")
                .join(format!("{}.asl", table.name));
            let to = compiled.path().join(table.name);
            let output = Command::new("iasl")
                .arg("-p")
                .arg(&to)
                .arg(&source)
                .output();
            let output = output.unwrap();
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success(), "{said}");
            assert!(said.contains("0 Errors, 0 Warnings, 0 Remarks"), "{said}");
            assert_eq!(
                what_it_says(&std::fs::read(to.with_extension("aml")).unwrap()),
                what_it_says(table.bytes),
                "{}",
                table.name
            );
        }
    }

    /// A table but for who compiled it, which the checksum covers.
    fn what_it_says(table: &[u8]) -> Vec<u8> {
        let mut table = table.to_vec();
        table[COMPILER].fill(0);
        table[CHECKSUM] = 0;
        table
    }
}
