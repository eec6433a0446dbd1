//! One thread on each CPU, all let go together; the calling thread sleeps until they are done.

use std::sync::mpsc;
use std::thread;

use knobstat_data::Priority;
use knobstat_sys::priority::set_priority;
use knobstat_sys::spawn::Scheduling;
use knobstat_sys::topology::set_affinity;

/// What each thread comes back with, in the order of the CPUs.
///
/// A thread is put on its CPU and given its priority, prepares (here it may allocate), waits for
/// the others, and works. Where one cannot be made ready none works.
///
/// # Errors
/// The first reason why a thread could not be made ready, or failed.
pub fn on_each_cpu<P, T: Send>(
    cpus: &[u32],
    priority: Option<Priority>,
    prepare: impl Fn(u32) -> Result<P, String> + Sync,
    work: impl Fn(u32, P) -> Result<T, String> + Sync,
) -> Result<Vec<T>, String> {
    let (prepare, work) = (&prepare, &work);
    thread::scope(|scope| {
        let (mut threads, mut gates) = (Vec::new(), Vec::new());
        let (ready, readiness) = mpsc::channel();
        for &cpu in cpus {
            let (go, gate) = mpsc::channel::<()>();
            let ready = ready.clone();
            let body = move || -> Result<Option<T>, String> {
                let prepared = place(cpu, priority).and_then(|()| prepare(cpu));
                // Nobody listens any more when another thread could not be started.
                let _ = ready.send(prepared.is_ok());
                drop(ready);
                let prepared = prepared?;
                match gate.recv() {
                    Ok(()) => work(cpu, prepared).map(Some),
                    Err(mpsc::RecvError) => Ok(None),
                }
            };
            // Where this fails, the gates are dropped on the way out, and nobody works.
            let thread = thread::Builder::new()
                .spawn_scoped(scope, body)
                .map_err(|error| format!("a thread for CPU {cpu} cannot be started ({error})"))?;
            threads.push(thread);
            gates.push(go);
        }
        drop(ready);
        let all_ready = readiness
            .iter()
            .take(cpus.len())
            .filter(|ready| *ready)
            .count()
            == cpus.len();
        for go in gates {
            if all_ready {
                // A thread that is ready waits for this.
                let _ = go.send(());
            }
        }
        let ended: Vec<_> = threads
            .into_iter()
            .map(thread::ScopedJoinHandle::join)
            .collect();
        let mut results = Vec::with_capacity(cpus.len());
        for result in ended {
            results.extend(result.map_err(|_| "a thread of the survey panicked".to_owned())??);
        }
        Ok(results)
    })
}

fn place(cpu: u32, priority: Option<Priority>) -> Result<(), String> {
    set_affinity(&[cpu]).map_err(|error| format!("CPU {cpu} cannot be used ({error})"))?;
    let Some(priority) = priority else {
        return Ok(());
    };
    set_priority(match priority {
        Priority::Nice(nice) => Scheduling::Nice(nice),
        Priority::Fifo(level) => Scheduling::Fifo(level),
    })
    .map_err(|error| {
        format!(
            "the priority {priority} cannot be had ({error}): it needs root, or a limit that \
             allows it (ulimit -e, ulimit -r)"
        )
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

    use knobstat_sys::net::affinity::obtainable_cpus;
    use knobstat_sys::topology::current_cpu;

    use super::*;

    #[test]
    fn each_thread_is_on_its_own_cpu() {
        let cpus = obtainable_cpus().unwrap();
        let found = on_each_cpu(&cpus, None, Ok, |cpu, prepared| {
            Ok((cpu, prepared, current_cpu()))
        });
        let wanted: Vec<_> = cpus.iter().map(|&cpu| (cpu, cpu, Some(cpu))).collect();
        assert_eq!(found, Ok(wanted));
    }

    #[test]
    fn where_one_cannot_be_made_ready_none_works() {
        let first = obtainable_cpus().unwrap()[0];
        let worked = AtomicBool::new(false);
        let turn = AtomicU32::new(0);
        let ended = on_each_cpu(
            &[first, first],
            None,
            |_| match turn.fetch_add(1, Ordering::Relaxed) {
                0 => Ok(()),
                _ => Err("no".to_owned()),
            },
            |_, ()| {
                worked.store(true, Ordering::Relaxed);
                Ok(())
            },
        );
        assert_eq!(ended, Err("no".to_owned()));
        assert!(!worked.load(Ordering::Relaxed));
        assert!(on_each_cpu(&[8000], None, Ok, |_, _| Ok(())).is_err());
    }
}
