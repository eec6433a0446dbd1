// Idle states and frequencies for the two processors of a QEMU q35 machine (`-smp 2`).
//
// The kernel's idle and frequency drivers, their counters and their `disable` files are the real
// ones; the states are not: every one of them halts, and a frequency changes no speed.
DefinitionBlock ("", "SSDT", 2, "KNOBST", "IDLE2CPU", 1)
{
    External (\_SB.CPUS.C000, DeviceObj)
    Scope (\_SB.CPUS.C000)
    {
        // Each state is a HLT (fixed hardware, vendor 0) of type C1. They differ in the latency in
        // microseconds and in the power in milliwatts that they announce.
        Method (_CST, 0, NotSerialized)
        {
            Return (Package () {
                3,
                Package () { ResourceTemplate () { Register (FFixedHW, 0, 0, 0) }, 1, 2, 1000 },
                Package () { ResourceTemplate () { Register (FFixedHW, 0, 0, 0) }, 1, 50, 500 },
                Package () { ResourceTemplate () { Register (FFixedHW, 0, 0, 0) }, 1, 200, 100 }
            })
        }

        // The frequency is asked for and read back in the scratch register of the second serial
        // port, which keeps any byte that is written to it.
        Name (_PCT, Package () {
            ResourceTemplate () { Register (SystemIO, 8, 0, 0x2FF) },
            ResourceTemplate () { Register (SystemIO, 8, 0, 0x2FF) }
        })
        // MHz, milliwatts, two latencies in microseconds, the byte to write, the byte to read.
        Name (_PSS, Package () {
            Package () { 2400, 3000, 10, 10, 0, 0 },
            Package () { 1800, 2000, 10, 10, 1, 1 },
            Package () { 1200, 1000, 10, 10, 2, 2 }
        })
        // All of them may be used.
        Method (_PPC, 0, NotSerialized)
        {
            Return (0)
        }
        // One domain of both processors, coordinated by software (SW_ALL).
        Name (_PSD, Package () { Package () { 5, 0, 0, 0xFC, 2 } })
    }

    // The second processor has the same.
    External (\_SB.CPUS.C001, DeviceObj)
    Scope (\_SB.CPUS.C001)
    {
        Method (_CST, 0, NotSerialized)
        {
            Return (Package () {
                3,
                Package () { ResourceTemplate () { Register (FFixedHW, 0, 0, 0) }, 1, 2, 1000 },
                Package () { ResourceTemplate () { Register (FFixedHW, 0, 0, 0) }, 1, 50, 500 },
                Package () { ResourceTemplate () { Register (FFixedHW, 0, 0, 0) }, 1, 200, 100 }
            })
        }

        Name (_PCT, Package () {
            ResourceTemplate () { Register (SystemIO, 8, 0, 0x2FF) },
            ResourceTemplate () { Register (SystemIO, 8, 0, 0x2FF) }
        })
        Name (_PSS, Package () {
            Package () { 2400, 3000, 10, 10, 0, 0 },
            Package () { 1800, 2000, 10, 10, 1, 1 },
            Package () { 1200, 1000, 10, 10, 2, 2 }
        })
        Method (_PPC, 0, NotSerialized)
        {
            Return (0)
        }
        Name (_PSD, Package () { Package () { 5, 0, 0, 0xFC, 2 } })
    }
}
