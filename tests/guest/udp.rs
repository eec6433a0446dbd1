//! UDP under a kernel without fine timers: a nap of 200 us lasts until a tick, and the buffer of an
//! ordinary user does not hold what may come in that time.

use std::sync::OnceLock;

use serde_json::Value;

use crate::Test;
use crate::boot::Boot;
use crate::needs::Need;
use crate::transcript::Transcript;

/// The tests of this group.
pub const TESTS: &[Test] = &[
    (
        "a_receiver_whose_naps_are_ticks_spins_and_accounts_for_all",
        &[Need::Guest],
        a_receiver_whose_naps_are_ticks_spins_and_accounts_for_all,
    ),
    (
        "either_of_two_ends_does_so_when_it_receives",
        &[Need::Guest],
        either_of_two_ends_does_so_when_it_receives,
    ),
];

fn said() -> &'static Transcript {
    static SAID: OnceLock<Transcript> = OnceLock::new();
    SAID.get_or_init(|| {
        Boot {
            script: include_str!("scripts/udp.sh"),
            // Both ends on one processor would have to nap.
            siblings: true,
            kernel_parameters: "highres=off",
            acpi_table: None,
            files: Vec::new(),
            disk: None,
        }
        .to_the_end()
    })
}

/// A tick of Debian's kernel is 4 ms; no sleep without fine timers is much shorter.
const LEAST_NAP: f64 = 3e6;

fn a_receiver_whose_naps_are_ticks_spins_and_accounts_for_all() {
    assert!(said().section("timers").contains(".hres_active    : 0"));
    let result = &said().report("workload")["result"];
    let nap = result["waiting"]["nap_nanoseconds"].as_f64();
    assert!(nap >= Some(LEAST_NAP), "{result:#}");
    assert_eq!(result["waiting"]["spinning"], true, "{result:#}");
    let count = |value: &Value| value.as_u64().unwrap();
    let packets = &result["packets"];
    assert_eq!(count(&packets["sent"]), 5000);
    assert_eq!(count(&packets["received"]) + count(&packets["lost"]), 5000);
    assert_eq!(packets["lost"], result["kernel"]["socket_drops"]);
    // Where half of the buffer holds what comes in a nap, it naps as ever.
    let slow = &said().report("workload.slow")["result"];
    assert_eq!(slow["waiting"]["spinning"], false, "{slow:#}");
    assert_eq!(slow["packets"]["received"], 100, "{slow:#}");
}

fn either_of_two_ends_does_so_when_it_receives() {
    for section in ["ends", "ends--reverse"] {
        let result = said().report(section);
        let evidence = |key: &str| {
            let all = result["evidence"].as_array().unwrap();
            let found = all.iter().find(|evidence| evidence["key"] == key);
            found.unwrap_or_else(|| panic!("no {key} in {result:#}"))["value"].as_f64()
        };
        assert!(evidence("receiver.nap") >= Some(LEAST_NAP), "{section}");
        assert_eq!(evidence("receiver.spinning"), Some(1.0), "{section}");
        let counted = |key: &str| result[key].as_f64();
        assert_eq!(counted("sent"), Some(5000.0), "{section}");
        assert_eq!(evidence("receiver.drops"), counted("lost"), "{section}");
    }
}
