//! `knobstat list`: the experiments of the store.

use serde_json::json;

use crate::arguments::{Global, List};
use crate::front;
use crate::output;
use crate::table;
use crate::trouble::Trouble;

/// Prints the experiments, the newest first.
pub fn run(arguments: &List, global: &Global) -> Result<(), Trouble> {
    let experiments = match front::existing_store(global)? {
        Some(store) => store.list().map_err(front::store_trouble)?,
        None => Vec::new(),
    };
    if arguments.json {
        let list: Vec<serde_json::Value> = experiments
            .iter()
            .map(|summary| {
                json!({
                    "id": summary.id.as_str(),
                    "name": summary.name,
                    "host": summary.host,
                    "started": summary.started.to_string(),
                    "finished": summary.finished.map(|finished| finished.to_string()),
                    "attempts": summary.ok + summary.tainted + summary.failed,
                    "ok": summary.ok,
                    "tainted": summary.tainted,
                    "failed": summary.failed,
                })
            })
            .collect();
        return output::result(&format!("{:#}", serde_json::Value::Array(list)));
    }
    if experiments.is_empty() {
        return output::result(&format!(
            "No experiment is in {} yet.",
            front::store_path(global)?.display()
        ));
    }
    let mut rows = vec![
        [
            "id", "started", "state", "ok", "tainted", "failed", "host", "name",
        ]
        .map(str::to_owned),
    ];
    rows.extend(experiments.iter().map(|summary| {
        [
            summary.id.to_string(),
            summary.started.to_string(),
            if summary.finished.is_some() {
                "done"
            } else {
                "unfinished"
            }
            .to_owned(),
            summary.ok.to_string(),
            summary.tainted.to_string(),
            summary.failed.to_string(),
            summary.host.clone().unwrap_or_default(),
            summary.name.clone(),
        ]
    }));
    output::result(&table::columns(&rows))
}
