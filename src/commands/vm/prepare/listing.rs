//! The kernels of the cache, as a table or as JSON.

use knobstat_lab::kernels::{Cache, Kernel, Recipe};
use serde_json::{Value, json};

use crate::commands::vm::kernel_trouble;
use crate::table::columns;
use crate::trouble::Trouble;

/// Every kernel that is there, and the usual ones that are not.
///
/// # Errors
/// When the cache cannot be read.
pub fn render(cache: &Cache, as_json: bool) -> Result<String, Trouble> {
    let kernels = cache.all().map_err(kernel_trouble)?;
    let missing: Vec<String> = Recipe::USUAL
        .iter()
        .map(Recipe::to_string)
        .filter(|name| kernels.iter().all(|kernel| kernel.name != *name))
        .collect();
    Ok(if as_json {
        format!("{:#}", value(cache, &kernels, &missing))
    } else {
        table(&kernels, &missing)
    })
}

fn table(kernels: &[Kernel], missing: &[String]) -> String {
    let mut rows = vec![["kernel", "hz", "modules", "image"].map(str::to_owned)];
    for kernel in kernels {
        rows.push([
            kernel.name.clone(),
            kernel.hz().map_or("-".to_owned(), |hz| hz.to_string()),
            if kernel.modules.is_some() {
                "yes"
            } else {
                "no"
            }
            .to_owned(),
            kernel.image.display().to_string(),
        ]);
    }
    for name in missing {
        rows.push([name.as_str(), "-", "-", "missing"].map(str::to_owned));
    }
    columns(&rows)
}

fn value(cache: &Cache, kernels: &[Kernel], missing: &[String]) -> Value {
    json!({
        "schema": "knobstat.kernels/1",
        "directories": cache.directories(),
        "kernels": kernels.iter().map(|kernel| json!({
            "name": kernel.name,
            "hz": kernel.hz(),
            "image": kernel.image,
            "modules": kernel.modules,
        })).collect::<Vec<Value>>(),
        "missing": missing,
    })
}
