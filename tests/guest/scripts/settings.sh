# Two processors that are siblings, with idle states, frequencies and every governor.
insmod /test/acpi-cpufreq.ko
insmod /test/cpufreq_powersave.ko

settings() {
  cat $CLOCK/current_clocksource $CPU/online $CPU/smt/control
  cat $CPU/cpufreq/policy0/scaling_governor $CPU/cpufreq/policy0/scaling_max_freq
  cat $CPU/cpu*/cpuidle/state*/disable /proc/sys/vm/swappiness /proc/irq/8/smp_affinity_list
}
settings >before

# What is not what it was before; a line that begins as a section does would hide it.
compare() {
  section "$1.put_back"
  settings | diff before - | sed 's/^@@/ @@/'
}

experiment unknown 1 '"true"' '
unavailable = "error"
[factors]
clocksource = ["hpet", "quartz"]'
carry_out unknown
compare unknown
section unknown.kernel
cat $CLOCK/current_clocksource
dmesg | grep -c Override

experiment without_effect 1 '"true"' "
[factors]
'sysfs:$CLOCK/current_clocksource' = ['hpet', 'jiffies']"
carry_out without_effect --yes
compare without_effect

experiment idle_states 2 '["sleep", "0.3"]' '
[factors]
cstate = ["C1", "C3"]'
carry_out idle_states
compare idle_states
section idle_states.evidence
knobstat report idle_states --evidence --json

experiment frequency 1 '["cat", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq"]' '
[workload.metrics.frequency]
regex = "([0-9]+)"
unit = "kHz"
better = "higher"
[factors]
governor = ["performance", "powersave"]
max_freq = [2400000, 1800000]'
carry_out frequency
compare frequency

# Taking a processor away moves the interrupts that only it had, and they do not come back.
experiment hotplug 1 '["sh", "-c", "cd /sys/devices/system/cpu/cpu1; echo 0 >online; echo 1 >online"]' '
[factors]
"irq:8" = ["0-1", "1"]'
carry_out hotplug --yes
compare hotplug

# From here on an interrupt is bound to the processor that will go.
echo 1 >/proc/irq/8/smp_affinity_list
settings >before

experiment siblings 1 '["sh", "-c", "wc -w </sys/devices/system/cpu/smt/active; grep -c ^processor /proc/cpuinfo"]' '
[workload.metrics.processors]
regex = "([0-9]+)"
unit = "1"
better = "higher"
[fixed]
cstate = "C1"
governor = "powersave"
[factors]
smt = ["on", "off"]'
carry_out siblings
compare siblings

experiment online 1 '["grep", "-c", "^processor", "/proc/cpuinfo"]' '
[workload.metrics.processors]
regex = "([0-9]+)"
unit = "1"
better = "higher"
[fixed]
cstate = "C1"
[factors]
cpus_online = ["0-1", "0"]'
carry_out online
compare online

# A processor that somebody took away, and that the kernel brings back when it brings siblings.
echo 0 >$CPU/cpu1/online
settings >before
experiment away 1 '"true"' '
[factors]
smt = ["on", "off"]'
carry_out away
compare away
echo 1 >$CPU/cpu1/online
settings >before

# The front and the agent are killed while settings are turned: the guardian is left.
experiment killed 1 '["sleep", "1000"]' '
[fixed]
governor = "performance"
max_freq = 1800000
[factors]
swappiness = [10, 20]'
knobstat run killed.toml --quiet >report 2>said &
front=$!
soon runs 'sleep 1000'
section killed.turned
cat $CPU/cpufreq/policy0/scaling_governor $CPU/cpufreq/policy0/scaling_max_freq
guardian=$(runs ' guardian ')
kill -9 $front $(runs ' agent')
soon gone $guardian
section killed.left
runs 'sleep 1000'
knobstat restore

compare killed
