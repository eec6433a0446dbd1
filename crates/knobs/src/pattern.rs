//! Paths with a number or a name left open: `/sys/devices/system/cpu/cpu#/online` stands for every
//! CPU's, `/sys/class/net/*/threaded` for every network device's.

use crate::files::Files;

/// The files that a pattern stands for, in the order of their numbers and names. Each `#` is one
/// or more digits and each `*` any name, at most one of them in each part of the path. A pattern
/// without either is its own only path, whether it exists or not.
pub fn expand(files: &dyn Files, pattern: &str) -> Vec<String> {
    let mut paths = vec![String::new()];
    for part in pattern.split('/').filter(|part| !part.is_empty()) {
        if let Some((before, after)) = part.split_once('#') {
            paths = paths
                .iter()
                .flat_map(|path| {
                    numbers(files, path, before, after)
                        .into_iter()
                        .map(move |number| format!("{path}/{before}{number}{after}"))
                })
                .collect();
        } else if let Some((before, after)) = part.split_once('*') {
            paths = paths
                .iter()
                .flat_map(|path| {
                    names(files, path, before, after)
                        .into_iter()
                        .map(move |name| format!("{path}/{before}{name}{after}"))
                })
                .collect();
        } else {
            for path in &mut paths {
                path.push('/');
                path.push_str(part);
            }
        }
    }
    if pattern.contains(['#', '*']) {
        paths.retain(|path| files.exists(path));
    }
    paths
}

/// What stands in the place of the `*` of a directory's entries of the form `before*after`, sorted.
pub fn names(files: &dyn Files, directory: &str, before: &str, after: &str) -> Vec<String> {
    files
        .list(directory)
        .unwrap_or_default()
        .iter()
        .filter_map(|name| name.strip_prefix(before)?.strip_suffix(after))
        .map(str::to_owned)
        .collect()
}

/// The numbers of a directory's entries of the form `before#after`, ascending.
pub fn numbers(files: &dyn Files, directory: &str, before: &str, after: &str) -> Vec<u32> {
    let mut numbers: Vec<u32> = files
        .list(directory)
        .unwrap_or_default()
        .iter()
        .filter_map(|name| {
            let digits = name.strip_prefix(before)?.strip_suffix(after)?;
            // "+1" parses as a number and "007" would not give its own name back.
            (digits == "0" || digits.starts_with(|digit: char| ('1'..='9').contains(&digit)))
                .then(|| digits.parse().ok())?
        })
        .collect();
    numbers.sort_unstable();
    numbers
}

/// A path with its numbers left open again, to tell of many files in one sentence.
pub fn generalise(path: &str) -> String {
    path.split('/')
        .map(|part| {
            let letters = part.trim_end_matches(|digit: char| digit.is_ascii_digit());
            if letters.is_empty() || letters.len() == part.len() {
                part.to_owned()
            } else {
                format!("{letters}*")
            }
        })
        .collect::<Vec<_>>()
        .join("/")
}

/// Several paths in a few words: the one path, or the pattern that they share and their number.
pub fn summarise<'a>(paths: impl IntoIterator<Item = &'a str>) -> String {
    let paths: Vec<&str> = paths.into_iter().collect();
    match paths.as_slice() {
        [] => "nothing".to_owned(),
        [path] => (*path).to_owned(),
        [first, rest @ ..] => {
            let general = generalise(first);
            if rest.iter().all(|path| generalise(path) == general) {
                format!("{general} ({} files)", paths.len())
            } else {
                format!("{first} and {} more files", rest.len())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::FakeMachine;

    #[test]
    fn numbers_sort_as_numbers_and_names_that_only_look_alike_are_left_out() {
        let machine = FakeMachine::new(&[
            ("/sys/cpu/cpu10/online", "1\n"),
            ("/sys/cpu/cpu2/online", "1\n"),
            ("/sys/cpu/cpu0/other", "1\n"),
            ("/sys/cpu/cpufreq/online", "1\n"),
            ("/sys/cpu/cpu01/online", "1\n"),
        ]);
        assert_eq!(
            expand(&machine, "/sys/cpu/cpu#/online"),
            ["/sys/cpu/cpu2/online", "/sys/cpu/cpu10/online"]
        );
        assert_eq!(expand(&machine, "/sys/none"), ["/sys/none"]);
        assert_eq!(
            expand(&machine, "/sys/cpu/cpu*/other"),
            ["/sys/cpu/cpu0/other"]
        );
    }

    #[test]
    fn many_files_are_one_pattern() {
        assert_eq!(
            summarise(["/c/policy0/governor", "/c/policy12/governor"]),
            "/c/policy*/governor (2 files)"
        );
        assert_eq!(summarise(["/a"]), "/a");
        assert_eq!(summarise(["/a", "/b"]), "/a and 1 more files");
    }
}
