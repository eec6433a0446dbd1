/*
 * The floor: a program is started by clone(CLONE_VM | CLONE_VFORK) and execve, and waited for by
 * wait4, over and over, with the loop's own environment; each time from just before the clone to
 * the return of the wait.
 *
 *	clone-loop RUNS PROGRAM
 *
 * prints the times in nanoseconds, one a line, then "cpu N": its own CPU time in microseconds, of
 * all runs together.
 */

#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char stack[64 * 1024] __attribute__((aligned(16)));

static int
become(void *program)
{
	char *arguments[] = { program, NULL };

	execve(program, arguments, environ);
	_exit(127);
}

static long long
now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (time.tv_sec * 1000000000LL + time.tv_nsec);
}

static long long
cpu(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return ((usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000LL +
	    usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

int
main(int argc, char **argv)
{
	if (argc != 3)
		return (2);
	int runs = atoi(argv[1]);
	long long *took = calloc(runs, sizeof(*took));
	if (took == NULL)
		return (1);
	long long used = cpu();
	for (int i = 0; i < runs; i++) {
		int status;
		struct rusage usage;
		long long start = now();
		pid_t pid = clone(become, stack + sizeof(stack),
		    CLONE_VM | CLONE_VFORK | SIGCHLD, argv[2]);
		if (pid < 0 || wait4(pid, &status, 0, &usage) != pid || status != 0)
			return (1);
		took[i] = now() - start;
	}
	used = cpu() - used;
	for (int i = 0; i < runs; i++)
		printf("%lld\n", took[i]);
	printf("cpu %lld\n", used);
	return (0);
}
