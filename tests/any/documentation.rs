//! Every command that the README and the documentation show is run.

use std::path::PathBuf;

use crate::support::install::install;
use crate::support::machine::Machine;
use crate::support::program::{Place, output};

/// The lines of all `sh` blocks of a Markdown file.
fn commands(text: &str) -> Vec<String> {
    let mut commands = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            inside = !inside && language == "sh";
        } else if inside && !line.trim().is_empty() && !line.trim_start().starts_with('#') {
            commands.push(line.trim().to_owned());
        }
    }
    commands
}

fn documents() -> Vec<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let mut files: Vec<PathBuf> = std::fs::read_dir(root.join("docs"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    files.push(root.join("README.md"));
    files.sort();
    files
}

/// How a command of the documentation is run here.
fn run(command: &str, place: &Place, machine: &Machine, id: &str) -> Result<(), String> {
    let program = env!("CARGO_BIN_EXE_knobstat");
    let command = command
        .replace("cargo run --release --locked -- ", "knobstat ")
        .replace("sudo -E target/release/knobstat ", "knobstat ")
        .replace("sudo ", "")
        .replace("target/release/knobstat", "knobstat");
    // What takes long, what needs a peer program, and what runs this very test is run elsewhere.
    let elsewhere = [
        "./test",
        "bench/",
        "cargo test",
        "cargo bench",
        "git clone",
        "apt-get",
        "cargo build",
        "cargo run --release -p",
    ];
    if elsewhere.iter().any(|prefix| command.starts_with(prefix)) {
        let file = command.split_whitespace().next().unwrap_or_default();
        if file.contains('/')
            && !PathBuf::from(env!("CARGO_MANIFEST_DIR"))
                .join(file)
                .exists()
        {
            return Err(format!("{file} does not exist"));
        }
        return Ok(());
    }
    if !command.contains("knobstat") {
        return Err(format!("no test knows how to run `{command}`"));
    }
    // A laid-out machine stands for this one, every experiment is only planned, and the id of the
    // documentation's example is that of an experiment that was run.
    let mut command = command.replace("3f2a", id);
    for verb in ["knobstat run ", "knobstat try "] {
        // A rehearsal is over in a moment and keeps nothing.
        let is_over_soon = command.contains("--check") || command.contains("--rehearse");
        if command.contains(verb) && !is_over_soon {
            command = command.replace(verb, &format!("{verb}--check "));
        }
    }
    // Packages and kernels are not brought by a test of words.
    let prepare = "knobstat vm prepare";
    if command.contains(prepare) && !command.contains("--list") && !command.contains("--dry-run") {
        command = command.replace(prepare, &format!("{prepare} --dry-run"));
    }
    let command = command.replace(
        "knobstat ",
        &format!("{program} --root {} ", machine.path().display()),
    );
    let command = command.replace(
        &format!("{program} --root {} ministat", machine.path().display()),
        &format!("{program} ministat"),
    );
    let mut shell = std::process::Command::new("bash");
    shell
        .args(["-euo", "pipefail", "-c", &command])
        .current_dir(place.path());
    let template = place.knobstat();
    for (name, value) in template.get_envs() {
        if let Some(value) = value {
            shell.env(name, value);
        }
    }
    // A service that runs tests may have no home; what is shown is for people.
    if std::env::var_os("HOME").is_none() {
        shell.env("HOME", place.path());
    }
    let ended = output(&mut shell);
    if ended.code() == Some(0) {
        Ok(())
    } else {
        Err(format!(
            "`{command}` ended with {:?}: {}",
            ended.code(),
            ended.stderr()
        ))
    }
}

#[test]
fn every_command_of_the_documentation_runs() {
    let (place, machine) = (Place::new(), Machine::desktop());
    // The files that the documentation's commands name.
    let repository = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    for directory in ["examples", "crates"] {
        let link = place.path().join(directory);
        std::os::unix::fs::symlink(repository.join(directory), link).unwrap();
    }
    let script = place.file("nothing.sh", "#!/bin/sh\ntrue\n");
    install(&script, &place.path().join("build.sh"));
    for file in ["before.txt", "after.txt"] {
        place.file(file, "1.0\n1.1\n0.9\n1.05\n");
    }
    let experiment = place.file(
        "small.toml",
        "name = \"small\"\n[workload]\nkind = \"command\"\ncommand = \"true\"\nwarmup_runs = 0\n[factors]\nthp = [\"always\", \"never\"]\n[design]\nreplicates = 3\n",
    );
    let report = output(
        place
            .knobstat_on(&machine)
            .args(["run", "--json", "--quiet"])
            .arg(experiment),
    )
    .must_exit(0)
    .json();
    let id = report["experiment"]["id"].as_str().unwrap();
    let export = output(place.knobstat().args(["export", id]))
        .must_exit(0)
        .stdout();
    place.file("experiment.json", &export);

    let mut count = 0;
    let mut failures = Vec::new();
    for document in documents() {
        for command in commands(&std::fs::read_to_string(&document).unwrap()) {
            count += 1;
            if let Err(failure) = run(&command, &place, &machine, id) {
                failures.push(format!(
                    "{}: {failure}",
                    document.file_name().unwrap().to_string_lossy()
                ));
            }
        }
    }
    println!("{count} commands");
    assert!(count >= 2, "the documentation has commands");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The `NAME/1` that the sources of a directory give to what they print for programs.
fn schemas(directory: &std::path::Path, found: &mut std::collections::BTreeSet<String>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && path.file_name().is_some_and(|name| name != "tests") {
            schemas(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let source = std::fs::read_to_string(&path).unwrap();
            // A unit test may make up names.
            let itself = source.split("#[cfg(test)]").next().unwrap_or_default();
            let words = itself
                .split('"')
                .filter(|word| word.starts_with("knobstat."));
            found.extend(words.filter(|word| word.ends_with("/1")).map(str::to_owned));
        }
    }
}

#[test]
fn every_schema_is_documented() {
    let repository = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let mut found = std::collections::BTreeSet::new();
    schemas(&repository.join("src"), &mut found);
    for name in std::fs::read_dir(repository.join("crates")).unwrap() {
        schemas(&name.unwrap().path().join("src"), &mut found);
    }
    assert!(found.len() >= 9, "{found:?}");
    let document = std::fs::read_to_string(repository.join("docs/json.md")).unwrap();
    for schema in found {
        assert!(
            document.contains(&format!("`{schema}`")),
            "{schema} is not in docs/json.md"
        );
    }
}

/// Every page and every heading that a page of the documentation points at is there.
#[test]
fn no_link_of_the_documentation_leads_nowhere() {
    let anchor = |heading: &str| -> String {
        heading
            .trim_start_matches('#')
            .trim()
            .to_lowercase()
            .chars()
            .filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'))
            .map(|letter| if letter == ' ' { '-' } else { letter })
            .collect()
    };
    let mut broken = Vec::new();
    for document in documents() {
        let text = std::fs::read_to_string(&document).unwrap();
        for target in text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next())
        {
            if target.contains("://") || target.contains(char::is_whitespace) {
                continue;
            }
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let path = match file {
                "" => document.clone(),
                file => document.parent().unwrap().join(file),
            };
            let is_there = match std::fs::read_to_string(&path) {
                Ok(page) => {
                    heading.is_empty()
                        || page
                            .lines()
                            .any(|line| line.starts_with('#') && anchor(line) == heading)
                }
                Err(_) => path.is_dir(),
            };
            if !is_there {
                broken.push(format!("{}: {target}", document.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn the_readme_names_two_commands_for_a_fresh_machine() {
    let readme =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    let commands = commands(&readme);
    assert_eq!(
        commands.first().map(String::as_str),
        Some("cargo run --release --locked -- run examples/quickstart.toml")
    );
    assert!(commands.iter().any(|command| command == "./test"));
}
