# UDP where every sleep ends at a tick.
section timers
grep -m1 hres_active /proc/timer_list

# What net.core.rmem_max grants an ordinary user.
BUFFER=212992

section workload
knobstat workload udp '{"receive_buffer": {"Size": '$BUFFER'}, "count": {"Integer": 5000}}'
section workload.slow
knobstat workload udp '{"rate": {"PacketRate": 500.0}, "count": {"Integer": 100}}'

knobstat udp recv --bind 127.0.0.1 --senders 2 --json >served 2>&1 &
receiver=$!
soon grep listening served
for direction in '' --reverse; do
  section "ends$direction"
  knobstat udp send 127.0.0.1 $direction --receive-buffer $BUFFER --count 5000 --quiet --json
done
wait $receiver
section served
cat served
