//! From the parameters of a survey to what is to be done, every impossible wish refused in words.

use std::time::Duration;

use knobstat_data::{CpuList, Parameters, Priority, Value};
use knobstat_sys::net::affinity::obtainable_cpus;

use crate::parameters::{self, ParameterError};

/// What a survey is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// How long is looked.
    pub duration: Duration,
    /// The CPUs; absent: all.
    pub cpus: Option<CpuList>,
    /// The interval, whatever it means to the survey.
    pub interval: Duration,
    /// The priority of the threads; absent: unchanged.
    pub priority: Option<Priority>,
}

impl Wanted {
    /// What the parameters ask for; what they leave out has its documented default.
    ///
    /// # Errors
    /// A parameter of another kind, no time at all, an interval longer than the whole.
    pub fn read(from: &Parameters) -> Result<Self, ParameterError> {
        let time = |name, default| {
            let time = parameters::duration(from, name)?.unwrap_or(default);
            if time.is_zero() {
                let found = Value::Duration(time);
                return Err(ParameterError::unfit(name, "longer than nothing", &found));
            }
            Ok(time)
        };
        let duration = time("duration", Duration::from_secs(1))?;
        let interval = time("interval", Duration::from_millis(1))?;
        if interval > duration {
            return Err(ParameterError::unfit(
                "interval",
                format!("no longer than the duration of {duration:?}"),
                &Value::Duration(interval),
            ));
        }
        Ok(Self {
            duration,
            cpus: parameters::cpus(from, "cpus")?,
            interval,
            priority: parameters::priority(from, "priority")?,
        })
    }

    /// The CPUs that are looked at on this machine.
    ///
    /// # Errors
    /// A CPU that is asked for and that this process cannot have.
    pub fn cpus_here(&self) -> Result<Vec<u32>, String> {
        let all = obtainable_cpus()
            .map_err(|error| format!("the CPUs of this process cannot be told ({error})"))?;
        choose(self.cpus.as_ref(), &all)
    }
}

fn choose(asked: Option<&CpuList>, all: &[u32]) -> Result<Vec<u32>, String> {
    let Some(asked) = asked else {
        return Ok(all.to_vec());
    };
    let missing = asked.cpus().iter().find(|cpu| !all.contains(cpu));
    match missing {
        None => Ok(asked.cpus().to_vec()),
        Some(cpu) => {
            let all: Vec<String> = all.iter().map(u32::to_string).collect();
            Err(format!(
                "cpus = \"{asked}\" cannot be had: this process may not use CPU {cpu}; choose \
                 among {}",
                all.join(",")
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: &str, value: Value) -> Parameters {
        Parameters::from([(name.to_owned(), value)])
    }

    #[test]
    fn nothing_asked_is_the_documented_defaults() {
        let wanted = Wanted::read(&Parameters::new()).unwrap();
        assert_eq!(wanted.duration, Duration::from_secs(1));
        assert_eq!(wanted.interval, Duration::from_millis(1));
        assert_eq!((wanted.cpus, wanted.priority), (None, None));
    }

    #[test]
    fn what_cannot_be_is_refused_by_name() {
        for (name, value) in [
            ("duration", Value::Duration(Duration::ZERO)),
            ("duration", Value::Duration(Duration::from_micros(10))),
            ("interval", Value::Duration(Duration::from_secs(2))),
            ("cpus", Value::Integer(1)),
            ("priority", Value::Text("high".to_owned())),
        ] {
            assert!(Wanted::read(&with(name, value.clone())).is_err(), "{name}");
        }
    }

    #[test]
    fn a_cpu_that_is_not_there_is_named() {
        let list: CpuList = "1,7".parse().unwrap();
        assert_eq!(choose(Some(&list), &[0, 1, 7]), Ok(vec![1, 7]));
        assert_eq!(choose(None, &[0, 3]), Ok(vec![0, 3]));
        let error = choose(Some(&list), &[0, 1]).unwrap_err();
        assert!(error.contains("CPU 7; choose among 0,1"), "{error}");
    }
}
