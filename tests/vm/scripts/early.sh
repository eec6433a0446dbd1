# The first process of the initial file system: the disk's driver, the disk, and its own first
# process.
mount -t devtmpfs dev /dev
for module in /modules/*.ko; do
  [ -e "$module" ] && insmod "$module"
done
mount -t ext4 /dev/vda /disk
exec switch_root /disk /sbin/init
