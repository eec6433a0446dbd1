# What every guest of the tests begins with: names for busybox's programs and for this program,
# the kernel's file systems, and words for experiments. Then comes the script.
"$BUSYBOX" mkdir -p /bin /proc /sys /dev /tmp /var/lib /root
"$BUSYBOX" --install -s /bin
ln -s /init /bin/knobstat
export PATH=/bin HOME=/root NO_COLOR=1
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev 2>/dev/null
mount -t tmpfs tmpfs /tmp
ifconfig lo 127.0.0.1 up
cd /tmp
exec 2>&1

CPU=/sys/devices/system/cpu
CLOCK=/sys/devices/system/clocksource/clocksource0

# For about a second the kernel offers a clock source that goes away again.
while grep -q tsc-early $CLOCK/*_clocksource; do usleep 20000; done

section() {
  printf '\n@@ %s\n' "$1"
}

# experiment NAME REPLICATES COMMAND TABLES: an experiment file.
experiment() {
  printf 'name = "%s"\n[workload]\nkind = "command"\ncommand = %s\nwarmup_runs = 0\n[design]\nreplicates = %s\n%s' \
    "$1" "$3" "$2" "$4" >"$1.toml"
}

# carry_out NAME OPTION…: runs it. Its report is the section of its name, and what it said with
# its exit code the section NAME.said.
carry_out() {
  name=$1
  shift
  knobstat run "$name.toml" --quiet --json "$@" >report 2>said
  code=$?
  section "$name"
  cat report
  section "$name.said"
  cat said
  echo "exit $code"
}

# runs TEXT: the processes with this in their command line.
runs() {
  for process in /proc/[0-9]*; do
    # It may have ended meanwhile.
    cat $process/cmdline 2>/dev/null | tr '\0' ' ' | grep -q -- "$1" && echo ${process#/proc/}
  done | grep .
}
gone() {
  [ ! -d /proc/$1 ]
}
# soon COMMAND…: waits until it succeeds, and not for ever.
soon() {
  for _ in $(seq 6000); do
    "$@" >/dev/null && return
    usleep 50000
  done
  echo "waited in vain for: $*"
}

. /test/script
section end
poweroff -f
