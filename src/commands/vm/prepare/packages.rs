//! The Debian packages that guests and the building of kernels need, and how it is seen that one
//! is there: by what it brings, so that another way of having it counts as well.

use std::collections::BTreeSet;

use knobstat_lab::kernels::Recipe;

use crate::trouble::Trouble;

/// A package, and what it brings.
#[derive(Debug, PartialEq, Eq)]
pub struct Package {
    /// Its name.
    pub name: &'static str,
    brings: Brings,
    purpose: Purpose,
}

#[derive(Debug, PartialEq, Eq)]
enum Brings {
    Program(&'static str),
    File(&'static str),
}

#[derive(Debug, PartialEq, Eq)]
enum Purpose {
    /// Starting a guest.
    Guest,
    /// Building a kernel.
    Build,
}

const fn program(name: &'static str, program: &'static str, purpose: Purpose) -> Package {
    Package {
        name,
        brings: Brings::Program(program),
        purpose,
    }
}

const PACKAGES: &[Package] = &[
    program("qemu-system-x86", "qemu-system-x86_64", Purpose::Guest),
    program("gcc", "gcc", Purpose::Build),
    Package {
        name: "libc6-dev",
        brings: Brings::File("/usr/include/stdlib.h"),
        purpose: Purpose::Build,
    },
    program("make", "make", Purpose::Build),
    program("bc", "bc", Purpose::Build),
    program("bison", "bison", Purpose::Build),
    program("flex", "flex", Purpose::Build),
    program("lz4", "lz4", Purpose::Build),
    program("xz-utils", "xz", Purpose::Build),
    Package {
        name: "libelf-dev",
        brings: Brings::File("/usr/include/gelf.h"),
        purpose: Purpose::Build,
    },
];

impl Package {
    /// Whether what it brings is there, as far as these two see.
    pub fn is_there(
        &self,
        is_program: &impl Fn(&str) -> bool,
        exists: &impl Fn(&str) -> bool,
    ) -> bool {
        match self.brings {
            Brings::Program(program) => is_program(program),
            Brings::File(path) => exists(path),
        }
    }
}

/// What is needed to start guests and to make these kernels.
pub fn needed(kernels: &BTreeSet<Recipe>) -> impl Iterator<Item = &'static Package> + use<> {
    let builds = kernels
        .iter()
        .any(|kernel| matches!(kernel, Recipe::TickRate(_)));
    PACKAGES
        .iter()
        .filter(move |package| builds || package.purpose == Purpose::Guest)
}

/// The packages that only root can bring.
pub fn cannot_be_installed(packages: &[&Package]) -> Trouble {
    let names: Vec<&str> = packages.iter().map(|package| package.name).collect();
    Trouble::request(
        format!(
            "what guests need is not all installed, and only root can install it: {} is missing",
            names.join(", ")
        ),
        format!(
            "As root: apt-get install --no-install-recommends {}; then once more `knobstat vm prepare`.",
            names.join(" ")
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(kernels: &[Recipe]) -> Vec<&'static str> {
        needed(&kernels.iter().copied().collect())
            .map(|package| package.name)
            .collect()
    }

    #[test]
    fn only_a_kernel_that_is_built_needs_tools() {
        assert_eq!(names(&[]), ["qemu-system-x86"]);
        assert_eq!(names(&[Recipe::Debian]), ["qemu-system-x86"]);
        let building = names(&[Recipe::Debian, Recipe::TickRate(250)]);
        for name in ["qemu-system-x86", "gcc", "bison", "libelf-dev", "lz4"] {
            assert!(building.contains(&name), "{building:?}");
        }
    }

    #[test]
    fn a_package_is_there_when_what_it_brings_is() {
        let mut there = PACKAGES.iter().filter(|package| {
            package.is_there(&|program| program == "bc", &|file| file.ends_with("gelf.h"))
        });
        assert_eq!(there.next().map(|package| package.name), Some("bc"));
        assert_eq!(there.next().map(|package| package.name), Some("libelf-dev"));
        assert_eq!(there.next(), None);
    }

    #[test]
    fn what_root_has_to_type_is_said() {
        let all: Vec<&Package> = needed(&BTreeSet::new()).collect();
        let trouble = cannot_be_installed(&all);
        assert!(
            trouble
                .remedy
                .contains("apt-get install --no-install-recommends qemu-system-x86"),
            "{trouble}"
        );
    }
}
