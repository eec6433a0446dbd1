//! Searches for the fitted parameters of the two machine files, and says what it found.
//!
//! `cargo run --release -p knobstat-model --example fit`
//!
//! Coordinate search: each parameter in turn is moved up and down by a step, the step is halved
//! when nothing helps. The values in the machine files are these, rounded.

#[path = "../tests/published/mod.rs"]
mod published;

use knobstat_model::MachineFile;
use knobstat_model::machine::{Alignment, Share, Time, TimePerByte};
use published::{CORE_I7_870, OPTERON_TG3, TREATMENTS, cells, job, sending, throughput};

fn main() {
    for alignment in [Alignment::Together, Alignment::Spread] {
        turboboost(alignment);
    }
    clock_sources();
}

/// Lowers `loss` from a starting point.
fn search(start: &[f64], steps: &[f64], rounds: u32, loss: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    let (mut best, mut steps) = (start.to_vec(), steps.to_vec());
    let mut lowest = loss(&best);
    for _ in 0..rounds {
        let mut helped = false;
        for index in 0..best.len() {
            for direction in [1.0, -1.0] {
                let mut tried = best.clone();
                tried[index] += direction * steps[index];
                let found = loss(&tried);
                if found < lowest {
                    (best, lowest, helped) = (tried, found, true);
                    break;
                }
            }
        }
        if !helped {
            steps.iter_mut().for_each(|step| *step /= 2.0);
        }
    }
    best
}

/// The handler of a tick, the time to grant a frequency and the job's memory share; the job's
/// length is read off the baseline for each of them.
fn turboboost(alignment: Alignment) {
    let Ok(original) = MachineFile::parse(CORE_I7_870, "core-i7-870.toml") else {
        return;
    };
    let with = |values: &[f64]| {
        let mut machine = original.clone();
        machine.tick.alignment.value = alignment;
        machine.tick.handler.value = Time(values[0].max(0.0) * 1e3);
        machine.cores.grant.value = Time(values[1].max(0.0) * 1e3);
        if let Some(job) = &mut machine.job {
            job.memory_share.value = Share((values[2] / 100.0).clamp(0.0, 1.0));
        }
        let baseline = job(&machine, &[("cstate", "C1"), ("idletick", "on")]).wall / 1e9;
        if let Some(job) = &mut machine.job {
            job.work.value.0 *= TREATMENTS[0].average / baseline;
        }
        machine
    };
    let of = |machine: &MachineFile| -> Vec<f64> {
        TREATMENTS
            .iter()
            .map(|one| {
                let run = job(
                    machine,
                    &[("cstate", one.cstate), ("idletick", one.idletick)],
                );
                run.wall / 1e9
            })
            .collect()
    };
    let loss = |values: &[f64]| {
        let walls = of(&with(values));
        let cells: f64 = walls
            .iter()
            .zip(&TREATMENTS)
            .map(|(wall, one)| (wall / one.average - 1.0).powi(2))
            .sum();
        // The post's own finding, the factor at C3, counts ten times.
        let factor = walls[2] / walls[5] / (TREATMENTS[2].average / TREATMENTS[5].average) - 1.0;
        cells + 100.0 * factor * factor
    };
    let found = search(&[15.0, 400.0, 11.0], &[4.0, 100.0, 2.0], 60, loss);
    let machine = with(&found);
    println!(
        "2010, ticks {alignment:?}: handler {:.2} us, grant {:.1} us, memory share {:.2} %, work {:.4} Gcycles",
        found[0],
        found[1],
        found[2],
        machine
            .job
            .as_ref()
            .map_or(0.0, |job| job.work.value.0 / 1e9)
    );
    for (wall, one) in of(&machine).iter().zip(&TREATMENTS) {
        println!(
            "  {} {:3} {:9.5} {wall:9.5} {:+.2} %",
            one.cstate,
            one.idletick,
            one.average,
            100.0 * (wall / one.average - 1.0)
        );
    }
}

/// The cost of a byte from the cells of 64 and 128 bytes alone, what follows from it for those
/// that were left out, and the number of datagrams that the card tells of at once.
fn clock_sources() {
    let Ok(mut machine) = MachineFile::parse(OPTERON_TG3, "opteron-tg3.toml") else {
        return;
    };
    let cells = cells();
    let time = |clock: &str, size: u32| {
        let of_both: f64 = cells
            .iter()
            .filter(|cell| cell.clock == clock && cell.size == size)
            .map(|cell| f64::from(size) * 8.0 / cell.mean())
            .sum();
        of_both / 2.0
    };
    let slope = |clock: &str| (time(clock, 128) - time(clock, 64)) / 64.0 * 1e3;
    let per_byte = (slope("tsc") + slope("acpi_pm")) / 2.0;
    println!("2007: {per_byte:.2} ns a byte from 64 and 128 bytes alone");
    if let Some(network) = &mut machine.network {
        for method in network.methods.values_mut() {
            method.per_byte.value = TimePerByte(per_byte);
        }
    }
    for cell in cells
        .iter()
        .filter(|cell| cell.clock == "acpi_pm" && cell.size >= 512)
    {
        let predicted = throughput(
            &sending(&machine, cell.clock, cell.hz, cell.size),
            cell.size,
        );
        println!(
            "  left out: acpi_pm, {} bytes, HZ={}: {:.1}, predicted {predicted:.1}",
            cell.size,
            cell.hz,
            cell.mean()
        );
    }
    for told_of in 1..=60 {
        if let Some(network) = &mut machine.network {
            network.send_buffer.told_of.value = told_of;
        }
        let paced = cells
            .iter()
            .filter(|cell| cell.clock == "jiffies" && cell.size >= 512);
        let predicted: Vec<(f64, f64)> = paced
            .map(|cell| {
                let run = sending(&machine, cell.clock, cell.hz, cell.size);
                let found = throughput(&run, cell.size);
                (found, found / cell.mean() - 1.0)
            })
            .collect();
        let worst = predicted
            .iter()
            .map(|(_, error)| error.abs())
            .fold(0.0, f64::max);
        let shown: Vec<String> = predicted
            .iter()
            .map(|(found, _)| format!("{found:6.1}"))
            .collect();
        println!(
            "  told of {told_of:2}: {} worst {:.2} %",
            shown.join(" "),
            100.0 * worst
        );
    }
}
