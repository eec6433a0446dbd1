//! `knobstat manual`: the manual, made from the same words as the help, and that of the knobs from
//! their catalogue.

use clap::CommandFactory;
use clap_mangen::roff::{Roff, bold, roman};

use crate::arguments::{Arguments, Manual};
use crate::output;
use crate::trouble::Trouble;

/// Prints the manual of the program or of one command, in roff.
pub fn run(arguments: &Manual) -> Result<(), Trouble> {
    let mut command = Arguments::command();
    command.build();
    let mut page = &command;
    for name in &arguments.command {
        page = page
            .get_subcommands()
            .find(|command| command.get_name() == name && !command.is_hide_set())
            .ok_or_else(|| {
                Trouble::request(
                    format!("there is no command \"{}\"", arguments.command.join(" ")),
                    "`knobstat --help` lists them.",
                )
            })?;
    }
    let mut roff = Vec::new();
    let title = page
        .get_display_name()
        .unwrap_or_else(|| page.get_name())
        .to_owned();
    clap_mangen::Man::new(page.clone())
        .title(title)
        .source(concat!("knobstat ", env!("CARGO_PKG_VERSION")))
        .render(&mut roff)
        .map_err(|error| Trouble::disk(format!("the manual could not be made ({error})"), ""))?;
    let mut text = String::from_utf8_lossy(&roff).into_owned();
    if arguments.command == ["knobs"] {
        text.push_str(&of_the_knobs());
    }
    output::result(&text)
}

/// Every knob, a section for each system.
fn of_the_knobs() -> String {
    let mut page = Roff::new();
    let mut system = "";
    for about in knobstat_knobs::abouts() {
        if about.system != system {
            system = about.system;
            page.control(
                "SH",
                [format!("KNOBS OF {}", system.to_uppercase()).as_str()],
            );
        }
        let text = about.documentation.replace('\n', " ");
        page.control("TP", []);
        page.text([bold(about.name)]);
        page.text([roman(format!("{}. {text}", about.summary))]);
    }
    page.to_roff()
}
