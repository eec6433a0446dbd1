//! A command in a guest: the program comes with its libraries, or is refused.

use crate::Test;
use crate::needs;
use crate::support::program::{Place, output};

pub const TESTS: &[Test] = &[
    ("a_program_is_packed_with_its_libraries", packed),
    ("what_is_no_program_is_refused_before_a_boot", refused),
];

fn experiment(command: &str, more: &str) -> String {
    format!(
        "name = \"a command in a guest\"\n\n\
         [workload]\nkind = \"command\"\ncommand = {command}\nwarmup_runs = 0\n\n\
         [factors]\nthp = [\"always\", \"never\"]\n\n\
         [design]\nreplicates = 2\nseed = 7\n\n\
         [target]\nkind = \"vm\"\nkernel = \"{}\"\n{more}",
        needs::kernel()
    )
}

fn packed() {
    let place = Place::new();
    let given = place.file("given", "a file of the host\n");
    let file = place.file(
        "sort.toml",
        &experiment(
            &format!("\"sort -c {}\"", given.display()),
            "files = [\"given\"]\n",
        ),
    );
    let report = output(place.knobstat().args(["run", "--json"]).arg(file))
        .must_exit(0)
        .json();
    for treatment in report["treatments"].as_array().unwrap() {
        assert_eq!(treatment["runs"]["ok"], 2, "{treatment}");
    }
    assert_eq!(
        report["machine"]["guest"]["time"], "virtual",
        "{}",
        report["machine"]
    );
}

fn refused() {
    let place = Place::new();
    let text = place.file("text", "exit 0\n");
    std::fs::set_permissions(&text, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let file = place.file(
        "text.toml",
        &experiment(&format!("\"{}\"", text.display()), ""),
    );
    let ended = output(place.knobstat().args(["run"]).arg(file)).must_exit(2);
    let said = ended.stderr();
    assert!(said.contains("cannot run in the guest"), "{said}");
}
