# A frequency driver of the tests has a boost, which no processor of QEMU has.
insmod /test/boosting_frequency.ko

experiment boost 1 '["cat", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq"]' '
[workload.metrics.most]
regex = "([0-9]+)"
unit = "kHz"
better = "higher"
[factors]
turbo = ["on", "off"]'
section boost.before
cat $CPU/cpufreq/boost
carry_out boost
section boost.after
cat $CPU/cpufreq/boost

# Each processor has its own policy here, and one of them goes away and comes back.
experiment policies 1 '["cat", "/sys/devices/system/cpu/online"]' '
[fixed]
governor = "performance"
[factors]
cpus_online = ["0-1", "0"]'
carry_out policies
section policies.after
cat $CPU/online $CPU/cpufreq/policy*/scaling_governor

rmmod boosting_frequency
insmod /test/boosting_frequency.ko with_stand_in=1
experiment stand_in 1 '["cat", "/sys/devices/system/cpu/intel_pstate/no_turbo"]' '
[workload.metrics.no_turbo]
regex = "([0-9]+)"
unit = "1"
better = "higher"
[factors]
turbo = ["on", "off"]'
carry_out stand_in
section stand_in.after
cat $CPU/intel_pstate/no_turbo
