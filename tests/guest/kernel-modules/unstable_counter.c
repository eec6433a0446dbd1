// SPDX-License-Identifier: GPL-2.0
// Test only: the kernel gives up on the time stamp counter when this is loaded, as its watchdog
// does when the counter runs away.
#include <linux/module.h>
#include <asm/tsc.h>

static int __init give_up(void)
{
	mark_tsc_unstable("a test said so");
	return 0;
}

static void __exit leave(void)
{
}

module_init(give_up);
module_exit(leave);
MODULE_DESCRIPTION("Marks the time stamp counter unstable");
MODULE_LICENSE("GPL");
