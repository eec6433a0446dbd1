//! The text of GRUB's configuration, as far as it matters here: whether it boots an entry once,
//! which entry boots a kernel, and the entry that an experiment has beside it.
//!
//! Entries are copied, not made: how a disk is found and which modules that takes, the machine's
//! own entry knows.

use super::command_line::CommandLine;

/// The identity of our entry.
pub const ENTRY: &str = "knobstat-one-boot";

const BEGIN: &str =
    "### BEGIN knobstat: one boot of an experiment; `knobstat restore` removes it ###\n";
const END: &str = "### END knobstat ###\n";

/// Commands of an entry that keep something of it beyond its boot.
const WITH_MEMORY: [&str; 2] = ["savedefault", "recordfail"];

/// Whether a configuration takes `next_entry`, and clears it before it boots.
pub fn boots_once(configuration: &str) -> bool {
    ["${next_entry}", "save_env next_entry"]
        .iter()
        .all(|words| configuration.contains(words))
}

/// Whether a configuration reads `custom.cfg`.
pub fn reads_custom(configuration: &str) -> bool {
    configuration.contains("custom.cfg")
}

/// Our entry: that which boots the kernel image of this name, with another command line. None
/// where no entry boots it.
pub fn entry(configuration: &str, image: &str, line: &CommandLine) -> Option<String> {
    let body = body_of(configuration, image)?;
    let mut text = format!("menuentry 'knobstat: one boot of an experiment' --id {ENTRY} {{\n");
    for command in body {
        let mut words = command.split_whitespace();
        let first = words.next().unwrap_or_default();
        if WITH_MEMORY.contains(&first) {
            continue;
        }
        if !is_linux(first) {
            text.push_str(&format!("\t{command}\n"));
            continue;
        }
        let path = words.next().unwrap_or_default();
        text.push_str(&format!("\t{first} {path}"));
        for word in line.words() {
            text.push(' ');
            text.push_str(&quoted(word));
        }
        text.push('\n');
    }
    text.push_str("}\n");
    Some(text)
}

/// A configuration of its owner, where there is one, with our entry at its end, in place of one
/// that is there.
pub fn with_section(custom: Option<&str>, entry: &str) -> String {
    let Some(owners) = custom.and_then(without_section) else {
        return format!("{BEGIN}{NO_FILE}{entry}{END}");
    };
    // A last line without an end must not become part of ours.
    if !owners.is_empty() && !owners.ends_with('\n') {
        return format!("{owners}\n{BEGIN}{NO_END}{entry}{END}");
    }
    format!("{owners}{BEGIN}{entry}{END}")
}

/// Says in our section that its owner had no such file.
const NO_FILE: &str = "# There was no such file.\n";
/// Says in our section that the line before it had no end.
const NO_END: &str = "# The line above had no end.\n";

/// A configuration without our entry, as its owner wrote it; none where it had none.
pub fn without_section(custom: &str) -> Option<String> {
    let Some((before, rest)) = custom.split_once(BEGIN) else {
        return Some(custom.to_owned());
    };
    let after = rest.split_once(END).map_or("", |(_, after)| after);
    if rest.starts_with(NO_FILE) && before.is_empty() && after.is_empty() {
        return None;
    }
    let before = if rest.starts_with(NO_END) {
        before.strip_suffix('\n').unwrap_or(before)
    } else {
        before
    };
    Some(format!("{before}{after}"))
}

/// Whether our entry is in a configuration.
pub fn has_section(custom: &str) -> bool {
    custom.contains(BEGIN)
}

/// The commands of the first entry that boots a kernel image of this name.
fn body_of<'c>(configuration: &'c str, image: &str) -> Option<Vec<&'c str>> {
    let mut lines = configuration.lines().map(str::trim);
    while let Some(line) = lines.next() {
        if !(line.starts_with("menuentry ") && line.ends_with('{')) {
            continue;
        }
        let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "}").collect();
        if body.iter().any(|command| boots(command, image)) {
            return Some(body);
        }
    }
    None
}

fn boots(command: &str, image: &str) -> bool {
    let mut words = command.split_whitespace();
    words.next().is_some_and(is_linux)
        && words
            .next()
            .is_some_and(|path| path.rsplit('/').next() == Some(image))
}

fn is_linux(command: &str) -> bool {
    matches!(command, "linux" | "linux16" | "linuxefi")
}

/// A word as GRUB's script takes it. GRUB puts quotes of its own around a word with spaces, and
/// would hand on those that are in it with a backslash that the kernel does not read.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('"', "").replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIGURATION: &str = "\
if [ \"${next_entry}\" ] ; then
   set default=\"${next_entry}\"
   set next_entry=
   save_env next_entry
fi
menuentry 'Debian GNU/Linux' --class debian $menuentry_id_option 'gnulinux-simple-1' {
\tload_video
\tsavedefault
\tsearch --no-floppy --fs-uuid --set=root 1
\tlinux\t/boot/vmlinuz-6.1.0-40-amd64 root=UUID=1 ro  quiet
\tinitrd\t/boot/initrd.img-6.1.0-40-amd64
}
submenu 'Advanced options' {
\tmenuentry 'other' $menuentry_id_option 'gnulinux-6.1.0-41-rt' {
\t\tlinux\t/boot/vmlinuz-6.1.0-41-rt root=UUID=1 ro
\t}
}
source ${config_directory}/custom.cfg
";

    #[test]
    fn the_entry_of_a_kernel_is_copied_with_another_command_line() {
        let line = CommandLine::parse("root=UUID=1 nohz=off dyndbg=\"a b\"");
        assert_eq!(
            entry(CONFIGURATION, "vmlinuz-6.1.0-40-amd64", &line).unwrap(),
            "menuentry 'knobstat: one boot of an experiment' --id knobstat-one-boot {\n\
             \tload_video\n\
             \tsearch --no-floppy --fs-uuid --set=root 1\n\
             \tlinux /boot/vmlinuz-6.1.0-40-amd64 'root=UUID=1' 'nohz=off' 'dyndbg=a b'\n\
             \tinitrd\t/boot/initrd.img-6.1.0-40-amd64\n\
             }\n"
        );
        assert!(
            entry(CONFIGURATION, "vmlinuz-6.1.0-41-rt", &line)
                .unwrap()
                .contains("linux /boot/vmlinuz-6.1.0-41-rt 'root=UUID=1'")
        );
        assert_eq!(entry(CONFIGURATION, "vmlinuz-6.1.0-4", &line), None);
    }

    #[test]
    fn what_boots_once_is_told_from_what_does_not() {
        assert!(boots_once(CONFIGURATION) && reads_custom(CONFIGURATION));
        assert!(!boots_once("set default=0\n") && !reads_custom("set default=0\n"));
    }

    #[test]
    fn an_owners_configuration_comes_back_to_the_byte() {
        for custom in [
            None,
            Some(""),
            Some("set timeout=3\n"),
            Some("set timeout=3"),
            Some("a\n\n"),
        ] {
            let one = with_section(custom, "menuentry 'x' {\n}\n");
            assert!(has_section(&one) && one.starts_with(custom.unwrap_or_default()));
            let two = with_section(Some(&one), "menuentry 'y' {\n}\n");
            assert!(!two.contains("'x'") && two.contains("'y'"));
            assert_eq!(without_section(&two).as_deref(), custom);
            let untouched = custom.map(|custom| without_section(custom).unwrap());
            assert_eq!(untouched.as_deref(), custom);
        }
    }
}
