//! What shells and readers of manuals are given.

use clap::Args;

/// `knobstat completions`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  knobstat completions bash >/etc/bash_completion.d/knobstat")]
pub struct Completions {
    /// The shell.
    pub shell: clap_complete::Shell,
}

/// `knobstat manual`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  knobstat manual | man -l -
  knobstat manual run | man -l -
  knobstat manual udp send | man -l -")]
pub struct Manual {
    /// Only this command's page.
    pub command: Vec<String>,
}
