//! What a machine file must keep to, so that every simulation of it is finite and means something.

use super::{MachineFile, Step};

/// The first thing that is wrong with a machine.
pub(super) struct Fault {
    pub(super) what: String,
    pub(super) problem: String,
    pub(super) remedy: String,
}

const NANOSECONDS_A_DAY: f64 = 86_400e9;

/// Without a cost, a sender would send without end in no time.
const SHORTEST_SEND: f64 = 10.0;

/// Collects the first fault.
#[derive(Default)]
struct Check(Option<Fault>);

impl Check {
    fn that(&mut self, holds: bool, what: impl Into<String>, problem: &str, remedy: &str) {
        if !holds && self.0.is_none() {
            self.0 = Some(Fault {
                what: what.into(),
                problem: problem.to_owned(),
                remedy: remedy.to_owned(),
            });
        }
    }

    fn time(&mut self, nanoseconds: f64, what: impl Into<String>) {
        self.that(
            (0.0..=NANOSECONDS_A_DAY).contains(&nanoseconds),
            what,
            "is below zero or longer than a day",
            "give a time from \"0ns\" up",
        );
    }

    fn above_zero(&mut self, value: f64, most: f64, what: impl Into<String>) {
        self.that(
            value > 0.0 && value <= most,
            what,
            "is zero, below it, or absurdly large",
            "give a figure above zero",
        );
    }

    fn share(&mut self, share: f64, what: impl Into<String>) {
        self.that(
            (0.0..=1.0).contains(&share),
            what,
            "is no share",
            "give \"0%\" to \"100%\"",
        );
    }
}

/// The first fault of a machine, in the order of the file.
pub(super) fn fault(machine: &MachineFile) -> Option<Fault> {
    let mut check = Check::default();
    cores(&mut check, machine);
    idle_states(&mut check, machine);
    tick(&mut check, machine);
    clocks(&mut check, machine);
    job(&mut check, machine);
    network(&mut check, machine);
    disturbance(&mut check, machine);
    check.0
}

fn cores(check: &mut Check, machine: &MachineFile) {
    let cores = &machine.cores;
    check.that(
        (1..=64).contains(&cores.count.value),
        "cores.count",
        "is not between 1 and 64",
        "give a number of cores that one package has",
    );
    check.that(
        (1..=2).contains(&cores.threads_per_core.value),
        "cores.threads_per_core",
        "is neither 1 nor 2",
        "give one of these",
    );
    check.that(
        cores.shared_speed.value.0 > 0.0 && cores.shared_speed.value.0 <= 1.0,
        "cores.shared_speed",
        "is not above 0 % and at most 100 %",
        "give the share of its speed that a thread keeps",
    );
    check.above_zero(cores.base_frequency.value.0, 100.0, "cores.base_frequency");
    if let Some(turbo) = &cores.turbo {
        check.that(
            turbo.value.len() == cores.count.value as usize,
            "cores.turbo",
            "does not have one frequency for each number of cores awake",
            "give as many as there are cores, the first for one core awake",
        );
        for frequency in &turbo.value {
            check.above_zero(frequency.0, 100.0, "cores.turbo");
        }
        check.that(
            turbo.value.windows(2).all(|pair| pair[0] >= pair[1]),
            "cores.turbo",
            "rises with the number of cores awake",
            "give the frequency for one core first",
        );
    }
    check.time(cores.grant.value.0, "cores.grant");
    check.time(cores.withdraw.value.0, "cores.withdraw");
}

fn idle_states(check: &mut Check, machine: &MachineFile) {
    check.that(
        !machine.idle_states.is_empty(),
        "idle_states",
        "is empty",
        "give at least the state of a halted CPU",
    );
    for state in &machine.idle_states {
        let what = |name: &str| format!("idle_states.{}.{name}", state.name);
        check.time(state.entry.value.0, what("entry"));
        check.time(state.exit.value.0, what("exit"));
        check.time(state.minimum_stay.value.0, what("minimum_stay"));
    }
    let names = machine.idle_states.iter().map(|state| state.name.as_str());
    unique(check, names, "idle_states");
}

fn tick(check: &mut Check, machine: &MachineFile) {
    let tick = &machine.tick;
    let most = 100_000;
    check.that(
        !tick.hz.value.is_empty() && tick.hz.value.iter().all(|hz| (1..=most).contains(hz)),
        "tick.hz",
        "is no list of rates between 1 and 100000",
        "give rates as in [1000, 250, 100]",
    );
    check.time(tick.handler.value.0, "tick.handler");
    let busiest = tick.hz.value.iter().max().copied().unwrap_or(1);
    check.that(
        tick.handler.value.0 * f64::from(busiest) < 0.5e9 * machine.cores.shared_speed.value.0,
        "tick.handler",
        "takes half of the time between two ticks",
        "give a shorter handler or lower rates",
    );
    check.that(
        (0.0..=1e5).contains(&tick.other_wakes.value.0),
        "tick.other_wakes",
        "is not between 0 and 100000 a second",
        "give wake-ups a second",
    );
}

fn clocks(check: &mut Check, machine: &MachineFile) {
    check.that(
        !machine.clocks.is_empty(),
        "clocks",
        "is empty",
        "give at least one clock source",
    );
    for clock in &machine.clocks {
        let what = |name: &str| format!("clocks.{}.{name}", clock.name);
        if let Step::Of(step) = clock.step.value {
            check.above_zero(step.0, NANOSECONDS_A_DAY, what("step"));
        }
        check.time(clock.cost(), what("read_cost"));
        let drift = clock.drift.as_ref().map_or(0.0, |drift| drift.value.0);
        check.that(
            drift.abs() <= 0.1,
            what("drift"),
            "is beyond a tenth",
            "give it in ppm",
        );
    }
    let names = machine.clocks.iter().map(|clock| clock.name.as_str());
    unique(check, names, "clocks");
}

fn job(check: &mut Check, machine: &MachineFile) {
    let Some(job) = &machine.job else { return };
    check.above_zero(job.work.value.0, 1e15, "job.work");
    check.share(job.memory_share.value.0, "job.memory_share");
    check.that(
        job.cpu.value < machine.cpus(),
        "job.cpu",
        "is no CPU of this machine",
        "give one from 0 up",
    );
}

fn network(check: &mut Check, machine: &MachineFile) {
    let Some(network) = &machine.network else {
        return;
    };
    check.that(
        !network.methods.is_empty(),
        "network.methods",
        "is empty",
        "give the costs of at least `send`",
    );
    for (name, method) in &network.methods {
        let what = |part: &str| format!("network.methods.{name}.{part}");
        check.that(
            (SHORTEST_SEND..=NANOSECONDS_A_DAY).contains(&method.per_packet.value.0),
            what("per_packet"),
            "is below 10 ns, in which nothing can be sent, or longer than a day",
            "give a time from \"10ns\" up",
        );
        check.that(
            method.per_byte.value.0 >= 0.0 && method.per_byte.value.0 <= 1e6,
            what("per_byte"),
            "is below zero or absurdly large",
            "give a time for each byte",
        );
    }
    let buffer = &network.send_buffer;
    check.above_zero(buffer.size.value.0, 1e12, "network.send_buffer.size");
    check.that(
        buffer.overhead.value.0 >= 0.0,
        "network.send_buffer.overhead",
        "is below zero",
        "give bytes",
    );
    check.share(buffer.wake_below.value.0, "network.send_buffer.wake_below");
    check.time(buffer.told_after.value.0, "network.send_buffer.told_after");
    check.above_zero(network.link.rate.value.0, 1e6, "network.link.rate");
    check.that(
        network.link.overhead.value.0 >= 0.0,
        "network.link.overhead",
        "is below zero",
        "give bytes",
    );
    check.above_zero(network.link.mtu.value.0, 1e6, "network.link.mtu");
    let receiver = &network.receiver;
    check.time(receiver.per_packet.value.0, "network.receiver.per_packet");
    check.above_zero(receiver.buffer.value.0, 1e12, "network.receiver.buffer");
    check.that(
        receiver.overhead.value.0 > 0.0,
        "network.receiver.overhead",
        "is not above zero",
        "give bytes",
    );
}

fn disturbance(check: &mut Check, machine: &MachineFile) {
    let disturbance = &machine.disturbance;
    if let Some(noise) = &disturbance.noise {
        check.that(
            (0.0..=0.5).contains(&noise.value.0),
            "disturbance.noise",
            "is not between 0 % and 50 %",
            "give the standard deviation of a run's length",
        );
    }
    if let Some(autocorrelation) = &disturbance.autocorrelation {
        check.that(
            (0.0..=0.999).contains(&autocorrelation.value),
            "disturbance.autocorrelation",
            "is not between 0 and 0.999",
            "give the correlation of a run with the next",
        );
    }
    if let Some(drift) = &disturbance.drift {
        check.that(
            drift.value.0.abs() <= 0.01,
            "disturbance.drift",
            "is beyond 1 % a run",
            "give a smaller one",
        );
    }
    if let Some(outliers) = &disturbance.outliers {
        check.share(outliers.chance.value.0, "disturbance.outliers.chance");
        check.that(
            (0.0..=100.0).contains(&outliers.longer.value.0),
            "disturbance.outliers.longer",
            "is not between 0 % and 10000 %",
            "give how much longer",
        );
    }
    for daemon in &disturbance.daemons {
        let what = format!("disturbance.daemons.{}", daemon.name);
        check.share(daemon.chance.value.0, format!("{what}.chance"));
        let turns = crate::settings::Settings::of(machine)
            .with(machine, &daemon.knob, &daemon.value)
            .is_ok();
        check.that(
            turns,
            what,
            "turns a knob to a value that this machine does not have",
            "give a knob and a level of the model",
        );
    }
    if let Some(watchdog) = &disturbance.watchdog {
        check.share(watchdog.chance.value.0, "disturbance.watchdog.chance");
        for name in [&watchdog.clock, &watchdog.replacement] {
            check.that(
                machine.clock(name).is_some(),
                "disturbance.watchdog",
                &format!("names {name}, which is no clock of this machine"),
                "give the names of two of its clocks",
            );
        }
    }
}

fn unique<'a>(check: &mut Check, names: impl Iterator<Item = &'a str>, what: &str) {
    let mut seen: Vec<&str> = Vec::new();
    for name in names {
        check.that(
            !seen.contains(&name) && !name.trim().is_empty(),
            what,
            "has an empty name or one twice",
            "give each a name of its own",
        );
        seen.push(name);
    }
}
