# An experiment whose store and journal are on a disk, until the power is cut.
for module in virtio_ring virtio virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci virtio_blk; do
  insmod /test/$module.ko
done
# What nobody asks to be on the disk stays in memory: neither the file system nor the kernel
# writes it by itself.
echo 0 >/proc/sys/vm/dirty_writeback_centisecs
mount -t ext4 -o commit=1000 /dev/vda /var/lib || poweroff -f
export KNOBSTAT_STORE=/var/lib/store.db

section settings
cat /proc/sys/vm/swappiness $CLOCK/current_clocksource
section boot
cat /proc/sys/kernel/random/boot_id
section restored
knobstat restore
section restored_again
knobstat restore
section kept
knobstat list --json

experiment power 1000 '"true"' '
[factors]
swappiness = [10, 20]
clocksource = ["tsc", "hpet"]'
section running
[ -e /test/forgetful.so ] && export LD_PRELOAD=/test/forgetful.so
knobstat run power.toml --yes 2>&1 | cat
