// SPDX-License-Identifier: GPL-2.0
// Test only: a frequency driver with a boost frequency, which no emulated processor has. The
// kernel's own code behind cpufreq/boost is what is tested; the driver only keeps what it is told.
// It also stands in for intel_pstate/no_turbo, which has a file here and no effect.
#include <linux/cpu.h>
#include <linux/cpufreq.h>
#include <linux/module.h>

static struct cpufreq_frequency_table frequencies[] = {
	{ .flags = CPUFREQ_BOOST_FREQ, .frequency = 3200000 },
	{ .frequency = 2400000 },
	{ .frequency = 1800000 },
	{ .frequency = 1200000 },
	{ .frequency = CPUFREQ_TABLE_END },
};

static DEFINE_PER_CPU(unsigned int, present);

static int begin(struct cpufreq_policy *policy)
{
	policy->freq_table = frequencies;
	policy->cpuinfo.transition_latency = 1000;
	policy->cur = 2400000;
	per_cpu(present, policy->cpu) = policy->cur;
	return cpufreq_enable_boost_support();
}

static int end(struct cpufreq_policy *policy)
{
	return 0;
}

static int select_frequency(struct cpufreq_policy *policy, unsigned int index)
{
	per_cpu(present, policy->cpu) = frequencies[index].frequency;
	return 0;
}

static unsigned int get(unsigned int cpu)
{
	return per_cpu(present, cpu);
}

static struct freq_attr *attributes[] = {
	&cpufreq_freq_attr_scaling_available_freqs,
	&cpufreq_freq_attr_scaling_boost_freqs,
	NULL,
};

static struct cpufreq_driver driver = {
	.name = "boosting",
	.init = begin,
	.exit = end,
	.verify = cpufreq_generic_frequency_table_verify,
	.target_index = select_frequency,
	.get = get,
	.attr = attributes,
	.boost_enabled = true,
};

static int no_turbo;

static ssize_t no_turbo_show(struct kobject *object, struct kobj_attribute *attribute, char *text)
{
	return sysfs_emit(text, "%d\n", no_turbo);
}

static ssize_t no_turbo_store(struct kobject *object, struct kobj_attribute *attribute,
			      const char *text, size_t length)
{
	bool value;
	int error = kstrtobool(text, &value);

	if (error)
		return error;
	no_turbo = value;
	return length;
}

static struct kobj_attribute no_turbo_file =
	__ATTR(no_turbo, 0644, no_turbo_show, no_turbo_store);

static ssize_t status_show(struct kobject *object, struct kobj_attribute *attribute, char *text)
{
	return sysfs_emit(text, "active\n");
}

static struct kobj_attribute status_file = __ATTR(status, 0444, status_show, NULL);

static const struct attribute *files[] = { &no_turbo_file.attr, &status_file.attr, NULL };

static struct kobject *stand_in;
static bool with_stand_in;
module_param(with_stand_in, bool, 0444);

static int __init load(void)
{
	int error = cpufreq_register_driver(&driver);

	if (error || !with_stand_in)
		return error;
	stand_in = kobject_create_and_add("intel_pstate", &cpu_subsys.dev_root->kobj);
	error = stand_in ? sysfs_create_files(stand_in, files) : -ENOMEM;
	if (error) {
		kobject_put(stand_in);
		cpufreq_unregister_driver(&driver);
	}
	return error;
}

static void __exit unload(void)
{
	kobject_put(stand_in);
	cpufreq_unregister_driver(&driver);
}

module_init(load);
module_exit(unload);
MODULE_DESCRIPTION("Frequencies with a boost, without any effect");
MODULE_LICENSE("GPL");
