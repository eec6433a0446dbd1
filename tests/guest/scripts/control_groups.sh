# Version 2 of control groups, with accounts of memory, as a service manager sets it up.
GROUPS_AT=/sys/fs/cgroup
mount -t cgroup2 none $GROUPS_AT
echo +memory >$GROUPS_AT/cgroup.subtree_control

# Eight MiB in one process, and a second process beside it.
experiment accounts 2 '["sh", "-c", "dd if=/dev/zero of=/dev/null bs=8M count=4 & true; wait"]' '
[factors]
swappiness = [10, 20]'
carry_out accounts
section accounts.evidence
knobstat report accounts --evidence --json
section accounts.left
ls $GROUPS_AT | grep knobstat

# A job in a group of its own, which its manager ends as a whole.
experiment managed 1 '["sleep", "1000"]' '
[factors]
swappiness = [10, 20]'
before=$(cat /proc/sys/vm/swappiness)
mkdir $GROUPS_AT/job
sh -c "echo \$\$ >$GROUPS_AT/job/cgroup.procs; exec knobstat run managed.toml --quiet" >report 2>said &
soon runs 'sleep 1000'
guardian=$(runs ' guardian ')
section managed.turned
[ "$(cat /proc/sys/vm/swappiness)" = "$before" ] || echo turned
section managed.groups
for process in $(runs ' agent') $guardian $(runs 'sleep 1000'); do
  sed -n 's/^0:://p' /proc/$process/cgroup | tr -d 0-9
done
echo 1 >$GROUPS_AT/job/cgroup.kill
soon gone $guardian
section managed.left
runs 'sleep 1000'
ls $GROUPS_AT | grep knobstat
knobstat restore
section managed.put_back
[ "$(cat /proc/sys/vm/swappiness)" = "$before" ] && echo back
