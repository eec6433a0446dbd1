use super::*;
use crate::MachineFile;

const MACHINE: &str = include_str!("../../machines/core-i7-870.toml");

fn machine() -> MachineFile {
    MachineFile::parse(MACHINE, "core-i7-870.toml").unwrap()
}

/// A job of a tenth of a second, half of a tenth of it waiting for memory.
fn load(machine: &MachineFile) -> Load {
    let mut job = machine.job.clone().unwrap();
    job.work.value.0 = 0.1e9 * machine.cores.base_frequency.value.0;
    job.memory_share.value.0 = 0.05;
    Load::of(machine, &job, 0, 1.0)
}

fn run_with(machine: &MachineFile, settings: &[(&str, &str)]) -> JobRun {
    let chosen = settings
        .iter()
        .fold(Settings::of(machine), |chosen, (knob, level)| {
            chosen.with(machine, knob, level).unwrap()
        });
    run(machine, &chosen, load(machine), &mut Random::of_run(1, 0)).unwrap()
}

/// Without turbo, ticks and other wake-ups the job takes what arithmetic says.
#[test]
fn an_undisturbed_job_takes_its_cycles() {
    let mut machine = machine();
    machine.tick.handler.value.0 = 0.0;
    machine.tick.other_wakes.value.0 = 0.0;
    let run = run_with(&machine, &[("turbo", "off"), ("idletick", "off")]);
    assert!((run.wall - 0.1e9).abs() < 1.0, "{}", run.wall);
    assert!((run.mean_frequency - 2.933).abs() < 1e-9);
}

/// Ticks alone cost their handlers' time: the job's own, and those of the other thread of its
/// core, which slow both down while they overlap.
#[test]
fn ticks_cost_their_handlers() {
    let mut machine = machine();
    machine.tick.other_wakes.value.0 = 0.0;
    machine.cores.shared_speed.value.0 = 1.0;
    let run = run_with(&machine, &[("turbo", "off")]);
    let ticks = run.cpus[0].ticks as f64;
    let expected = 0.1e9 + ticks * machine.tick.handler.value.0;
    assert!((run.wall - expected).abs() < 1.0);
    assert!((ticks - run.wall / 1e6).abs() <= 1.0);
    machine.cores.shared_speed.value.0 = 0.6;
    assert!(run_with(&machine, &[("turbo", "off")]).wall > expected);
}

#[test]
fn cores_that_sleep_give_the_working_one_its_highest_frequency() {
    let mut machine = machine();
    machine.tick.other_wakes.value.0 = 0.0;
    let awake = run_with(&machine, &[("cstate", "C1"), ("idletick", "off")]);
    assert_eq!(awake.idle_cores_awake, 1.0);
    assert!((awake.mean_frequency - 3.2).abs() < 1e-9);
    let asleep = run_with(&machine, &[("cstate", "C3"), ("idletick", "off")]);
    assert!(asleep.idle_cores_awake < 1e-3);
    assert!(asleep.mean_frequency > 3.59);
    assert!(asleep.wall < awake.wall);
}

/// The time of every idle CPU is accounted for.
#[test]
fn an_idle_cpu_is_in_one_state_at_a_time() {
    let machine = machine();
    let run = run_with(&machine, &[]);
    for cpu in run.cpus.iter().skip(1) {
        let idle: f64 = cpu.times.iter().sum();
        assert!(idle > 0.5 * run.wall && idle <= run.wall, "CPU {}", cpu.cpu);
        let wakes = cpu.ticks + cpu.other_wakes;
        let entries: u64 = cpu.entries.iter().sum();
        assert!(
            entries.abs_diff(wakes) <= 2 + cpu.other_wakes,
            "{entries} {wakes}"
        );
    }
    assert_eq!(run.cpus[0].times.iter().sum::<f64>(), 0.0);
}

#[test]
fn the_same_seed_is_the_same_run_and_the_work_is_bounded() {
    let machine = machine();
    let (one, other) = (run_with(&machine, &[]), run_with(&machine, &[]));
    assert_eq!(one, other);
    // Four events for each tick of each CPU, and those of the package.
    let ticks: u64 = one.cpus.iter().map(|cpu| cpu.ticks).sum();
    assert!(one.events < 5 * ticks + 100, "{} {ticks}", one.events);
}

#[test]
fn a_cpu_that_is_not_there_is_refused() {
    let machine = machine();
    let settings = Settings::of(&machine);
    let mut load = load(&machine);
    load.cpu = 8;
    let refused = run(&machine, &settings, load, &mut Random::of_run(1, 0));
    assert!(matches!(refused, Err(CoresError::NoCpu { cpu: 8, .. })));
    load.cpu = 1;
    let alone = settings.with(&machine, "smt", "off").unwrap();
    assert!(run(&machine, &alone, load, &mut Random::of_run(1, 0)).is_err());
}
