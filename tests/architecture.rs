//! The structure of the workspace, held against `docs/architecture.md`: which crate may use which,
//! what none of them may use, and where unsafe code may stand.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Every crate of the workspace and the crates of the workspace that it may use.
const ARROWS: &[(&str, &[&str])] = &[
    ("data", &[]),
    ("stats", &[]),
    ("analysis", &["data", "stats"]),
    ("report", &["data", "analysis"]),
    ("sys", &[]),
    ("knobs", &["data", "sys"]),
    ("load", &["data", "sys"]),
    ("agent", &["data", "sys", "knobs", "load"]),
    ("model", &["data"]),
    ("lab", &["data", "analysis", "model", "agent"]),
];

/// Crates that hold no input or output, and so may use nothing that does any.
const PURE: &[&str] = &["data", "stats", "analysis", "report", "model"];

/// What a pure crate may not use: the libraries that reach the machine.
const IMPURE_LIBRARIES: &[&str] = &[
    "libc",
    "rustix",
    "rusqlite",
    "io-uring",
    "tempfile",
    "indicatif",
];

/// What the source of a pure crate may not name.
const IMPURE_PATHS: &[&str] = &[
    "std::fs",
    "std::net",
    "std::process",
    "std::env",
    "std::io::stdin",
    "std::io::stdout",
    "SystemTime::now",
    "Instant::now",
    "std::thread",
    "std::os",
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn metadata() -> serde_json::Value {
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--format-version",
            "1",
            "--no-deps",
            "--offline",
        ])
        .current_dir(root())
        .output()
        .expect("cargo metadata runs");
    assert!(
        output.status.success(),
        "cargo metadata: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON")
}

/// The names of the ordinary and build dependencies of each package.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    metadata()["packages"]
        .as_array()
        .expect("packages")
        .iter()
        .map(|package| {
            let used = package["dependencies"]
                .as_array()
                .expect("dependencies")
                .iter()
                .filter(|dependency| dependency["kind"].as_str() != Some("dev"))
                .map(|dependency| dependency["name"].as_str().expect("name").to_owned())
                .collect();
            (package["name"].as_str().expect("name").to_owned(), used)
        })
        .collect()
}

#[test]
fn the_arrows_between_the_crates_are_these_and_no_others() {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (package, used) in dependencies() {
        let Some(name) = package.strip_prefix("knobstat-") else {
            assert_eq!(package, "knobstat", "a package of another name");
            continue;
        };
        let ours = used
            .iter()
            .filter_map(|used| used.strip_prefix("knobstat-"))
            .map(str::to_owned)
            .collect();
        found.insert(name.to_owned(), ours);
    }
    let wanted: BTreeMap<String, BTreeSet<String>> = ARROWS
        .iter()
        .map(|(name, used)| {
            (
                (*name).to_owned(),
                used.iter().map(|used| (*used).to_owned()).collect(),
            )
        })
        .collect();
    assert_eq!(found, wanted);
}

#[test]
fn pure_crates_use_no_library_that_reaches_the_machine() {
    let dependencies = dependencies();
    for name in PURE {
        let used = &dependencies[&format!("knobstat-{name}")];
        for library in IMPURE_LIBRARIES {
            assert!(!used.contains(*library), "{name} uses {library}");
        }
    }
}

/// Every Rust file below a folder, with its text.
fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder of sources") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).expect("a source file");
                found.push((path, text));
            }
        }
    }
    assert!(!found.is_empty(), "no sources in {}", folder.display());
    found
}

/// The code of a file without its comment lines and without what follows `#[cfg(test)]`.
fn code(text: &str) -> String {
    text.split("#[cfg(test)]")
        .next()
        .unwrap_or_default()
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn pure_crates_name_nothing_that_reaches_the_machine() {
    for name in PURE {
        for (path, text) in sources(&root().join("crates").join(name).join("src")) {
            let code = code(&text);
            for impure in IMPURE_PATHS {
                assert!(!code.contains(impure), "{} names {impure}", path.display());
            }
        }
    }
}

#[test]
fn unsafe_code_stands_in_sys_alone() {
    let block = ["unsafe", " {"].concat();
    let function = ["unsafe", " fn"].concat();
    let attribute = ["allow(", "unsafe_code"].concat();
    let crates = ARROWS
        .iter()
        .map(|(name, _)| *name)
        .filter(|name| *name != "sys");
    let folders = crates
        .map(|name| root().join("crates").join(name).join("src"))
        .chain([root().join("src")]);
    for folder in folders {
        for (path, text) in sources(&folder) {
            for forbidden in [&block, &function, &attribute] {
                assert!(
                    !text.contains(forbidden.as_str()),
                    "{} has {forbidden}",
                    path.display()
                );
            }
        }
    }
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).expect("the manifest");
    assert!(manifest.contains("unsafe_code = \"forbid\""));
    for (name, _) in ARROWS.iter().filter(|(name, _)| *name != "sys") {
        let manifest = root().join("crates").join(name).join("Cargo.toml");
        let manifest = std::fs::read_to_string(manifest).expect("a manifest");
        assert!(
            manifest.contains("[lints]\nworkspace = true"),
            "{name} keeps the lints"
        );
    }
}

#[test]
fn nothing_is_left_unfinished() {
    // In two parts, so that this file does not hold what it forbids.
    let marks = [
        ("to", "do!("),
        ("unimple", "mented!("),
        ("TO", "DO"),
        ("FIX", "ME"),
        ("#[ig", "nore"),
        ("allow(dead", "_code)"),
    ]
    .map(|(first, rest)| format!("{first}{rest}"));
    for folder in ["src", "crates", "tests"] {
        for (path, text) in sources(&root().join(folder)) {
            for mark in &marks {
                assert!(!text.contains(mark), "{} has {mark}", path.display());
            }
        }
    }
}
