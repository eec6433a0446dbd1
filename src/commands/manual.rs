//! `knobstat manual`: the manual, made from the same words as the help.

use clap::CommandFactory;

use crate::arguments::{Arguments, Manual};
use crate::output;
use crate::trouble::Trouble;

/// Prints the manual of the program or of one command, in roff.
pub fn run(arguments: &Manual) -> Result<(), Trouble> {
    let mut command = Arguments::command();
    command.build();
    let page = match &arguments.command {
        None => command,
        Some(name) => command
            .get_subcommands()
            .find(|command| command.get_name() == name && !command.is_hide_set())
            .cloned()
            .ok_or_else(|| {
                Trouble::request(
                    format!("there is no command \"{name}\""),
                    "`knobstat --help` lists them.",
                )
            })?,
    };
    let mut roff = Vec::new();
    let title = match page.get_name() {
        "knobstat" => "knobstat".to_owned(),
        name => format!("knobstat-{name}"),
    };
    clap_mangen::Man::new(page)
        .title(title)
        .render(&mut roff)
        .map_err(|error| Trouble::disk(format!("the manual could not be made ({error})"), ""))?;
    output::result(&String::from_utf8_lossy(&roff))
}
