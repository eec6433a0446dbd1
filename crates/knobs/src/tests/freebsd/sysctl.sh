#!/bin/sh
cd DIRECTORY || exit 1
unknown() { echo "sysctl: unknown oid '$1'" >&2; exit 1; }
invalid() { echo "sysctl: $1: Invalid argument" >&2; exit 1; }
# The level nearest to a frequency, as cpufreq(4) takes it.
nearest() {
  best=; distance=
  for level in $(cat dev.cpu.0.freq_levels); do
    level=${level%%/*}; off=$((level - $1)); [ $off -lt 0 ] && off=$((-off))
    if [ -z "$distance" ] || [ $off -lt $distance ]; then best=$level; distance=$off; fi
  done
  echo "$best"
}
case $1 in
  -n) [ -f "$2" ] || unknown "$2"; cat "$2"; exit ;;
  -N) ls | grep "^$2\." || unknown "$2"; exit ;;
esac
name=${1%%=*}; value=${1#*=}
[ -f "$name" ] || unknown "$name"
case $name in
  *.choice|*.cx_supported|*.freq_levels|*_available|kern.hz|machdep.hyperthreading_allowed)
    echo "sysctl: oid '$name' is read only" >&2; exit 1 ;;
  kern.timecounter.hardware|kern.eventtimer.timer)
    grep -q "\(^\| \)$value(" "${name%.*}.choice" || invalid "$name" ;;
  dev.cpu.*.cx_lowest)
    case $value in Cmax) value=C8 ;; C[1-8]) ;; *) invalid "$name" ;; esac ;;
  dev.cpu.0.freq) value=$(nearest "$value") ;;
  machdep.idle) grep -q "$value" machdep.idle_available || invalid "$name" ;;
esac
old=$(cat "$name")
echo "$value" >"$name"
echo "$name: $old -> $value"
