# The kernel gives up on the time stamp counter in the first run that is timed by it.
cat >workload <<'END'
#!/bin/sh
if [ "$(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)" = tsc ]; then
  insmod /test/unstable_counter.ko
  sleep 1
fi
END
chmod +x workload
section counter.before
cat $CLOCK/current_clocksource
experiment counter 2 '["/tmp/workload"]' '
order = "as-written"
[factors]
clocksource = ["hpet", "tsc"]'
carry_out counter
section counter.after
cat $CLOCK/current_clocksource
knobstat knobs clocksource
