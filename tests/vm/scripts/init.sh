# The first process of a machine without systemd: what every program expects to find, then the
# experiment, which reboots the machine from under this script until it is done.
export HOME=/root PATH=/usr/local/bin:/bin KNOBSTAT_STORE=/var/user/store.db
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev 2>/dev/null
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /tmp
chmod 666 /dev/console
read -r line </proc/cmdline
echo "came up: $line"
if [ ! -e /var/begun ]; then
  chown 0:0 /usr/local/bin/knobstat
  mkdir /var/user
  chown 1000:1000 /var/user
  : >/var/begun
  sync
  # As sudo starts it for a user; later starts know of the user by what was kept.
  SUDO_UID=1000 SUDO_GID=1000 knobstat run --quiet /experiment.toml --reboot=kexec
else
  knobstat resume
fi
# It comes this far only where no reboot took place.
echo "it ended: $?"
ls -ln /var/user
knobstat export reboots >/var/export.json
knobstat restore --dry-run
sync
echo o >/proc/sysrq-trigger
while :; do sleep 1; done
