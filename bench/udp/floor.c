/*
 * The floor: bare loops of the methods that knobstat's workload uses, without numbers, accounts
 * or checks of any kind.
 *
 *   floor receive PORT SIZE CPU             napping recvmmsg; ends 0.3 s after the last datagram
 *   floor send METHOD HOST PORT SIZE CPU SECONDS     send | sendmmsg | gso
 *   floor pace RATE HOST PORT SIZE CPU SECONDS       an absolute schedule, sleep then spin
 *   floor gaps INTERFACE SIZE CPU           the kernel's times of arrival; ends as receive does
 *
 * Each prints one JSON object.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BATCH 64
#define SECOND 1000000000LL

static long long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

static long long cpu_time(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

static void until(long long when)
{
	struct timespec t = { when / SECOND, when % SECOND };
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static void must(int fine, const char *what)
{
	if (!fine) {
		perror(what);
		exit(1);
	}
}

static void pin(int cpu)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	must(sched_setaffinity(0, sizeof set, &set) == 0, "sched_setaffinity");
	prctl(PR_SET_TIMERSLACK, 1);
}

static void enlarge(int s, int bytes)
{
	if (setsockopt(s, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes))
		setsockopt(s, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
}

static int receive(int port, int size, int cpu)
{
	static char buffers[BATCH][65536];
	struct iovec vectors[BATCH];
	struct mmsghdr headers[BATCH] = { 0 };
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(port) };
	int s = socket(AF_INET, SOCK_DGRAM, 0);
	long long first = 0, last = 0, count = 0, cpu_before = 0, cpu_after = 0, emptied = 0;

	pin(cpu);
	enlarge(s, 4 << 20);
	must(bind(s, (void *)&at, sizeof at) == 0, "bind");
	for (int i = 0; i < BATCH; i++) {
		vectors[i] = (struct iovec){ buffers[i], size };
		headers[i].msg_hdr.msg_iov = &vectors[i];
		headers[i].msg_hdr.msg_iovlen = 1;
	}
	for (;;) {
		int n = recvmmsg(s, headers, BATCH, MSG_DONTWAIT, NULL);
		if (n > 0) {
			last = now();
			if (!first) {
				first = last;
				cpu_before = cpu_time();
			}
			count += n;
			if (n == BATCH)
				continue;
		}
		/* The naps after the last datagram are no part of its CPU time. */
		if (last > emptied) {
			emptied = last;
			cpu_after = cpu_time();
		}
		if (first && now() - last > 3 * SECOND / 10)
			break;
		until(now() + 200000);
	}
	printf("{\"received\": %lld, \"seconds\": %.9f, \"cpu_seconds\": %.9f}\n", count,
	       (last - first) / 1e9, (cpu_after - cpu_before) / 1e9);
	return 0;
}

static int connected(const char *host, int port)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port) };
	int s = socket(AF_INET, SOCK_DGRAM, 0);
	must(inet_pton(AF_INET, host, &to.sin_addr) == 1, "address");
	must(connect(s, (void *)&to, sizeof to) == 0, "connect");
	return s;
}

static int send_all(const char *method, int s, int size, int cpu, double seconds)
{
	static char buffer[65536];
	struct iovec vectors[BATCH];
	struct mmsghdr headers[BATCH] = { 0 };
	long long sent = 0, start, end;
	int per_call = 1;

	pin(cpu);
	if (!strcmp(method, "sendmmsg")) {
		per_call = BATCH;
		for (int i = 0; i < BATCH; i++) {
			vectors[i] = (struct iovec){ buffer, size };
			headers[i].msg_hdr.msg_iov = &vectors[i];
			headers[i].msg_hdr.msg_iovlen = 1;
		}
	} else if (!strcmp(method, "gso")) {
		per_call = 65507 / size < BATCH ? 65507 / size : BATCH;
		must(setsockopt(s, IPPROTO_UDP, 103, &size, sizeof size) == 0, "UDP_SEGMENT");
	}
	start = now();
	end = start + (long long)(seconds * SECOND);
	do {
		for (int i = 0; i < 256; i++) {
			int n;
			if (per_call > 1 && method[0] == 's')
				n = sendmmsg(s, headers, BATCH, 0);
			else
				n = send(s, buffer, (size_t)size * per_call, 0) < 0 ? -1 : per_call;
			if (n > 0)
				sent += n;
		}
	} while (now() < end);
	printf("{\"sent\": %lld, \"seconds\": %.9f}\n", sent, (now() - start) / 1e9);
	return 0;
}

static int pace(double rate, int s, int size, int cpu, double seconds)
{
	static char buffer[65536];
	long long count = (long long)(rate * seconds), start;

	pin(cpu);
	start = now();
	for (long long n = 0; n < count; n++) {
		long long due = start + (long long)(n * 1e9 / rate);
		while (now() < due)
			if (due - now() > 60000)
				until(due - 60000);
		send(s, buffer, size, 0);
	}
	printf("{\"sent\": %lld, \"seconds\": %.9f}\n", count, (now() - start) / 1e9);
	return 0;
}

static int gaps(const char *interface, int size, int cpu)
{
	static char buffers[BATCH][128], controls[BATCH][64];
	static struct sockaddr_ll from[BATCH];
	static long long times[4 << 20];
	struct iovec vectors[BATCH];
	struct mmsghdr headers[BATCH] = { 0 };
	struct sockaddr_ll at = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_IP),
				  .sll_ifindex = if_nametoindex(interface) };
	int s = socket(AF_PACKET, SOCK_DGRAM, htons(ETH_P_IP)), on = 1;
	long long last = 0, count = 0;

	pin(cpu);
	must(s >= 0, "packet socket");
	enlarge(s, 512 << 20);
	setsockopt(s, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
	must(bind(s, (void *)&at, sizeof at) == 0, "bind");
	for (;;) {
		for (int i = 0; i < BATCH; i++) {
			vectors[i] = (struct iovec){ buffers[i], sizeof buffers[i] };
			headers[i].msg_hdr = (struct msghdr){
				.msg_name = &from[i], .msg_namelen = sizeof from[i],
				.msg_iov = &vectors[i], .msg_iovlen = 1,
				.msg_control = controls[i], .msg_controllen = sizeof controls[i] };
		}
		int n = recvmmsg(s, headers, BATCH, MSG_DONTWAIT, NULL);
		for (int i = 0; i < n; i++) {
			uint8_t *ip = (uint8_t *)buffers[i];
			struct cmsghdr *c = CMSG_FIRSTHDR(&headers[i].msg_hdr);
			struct timespec t;
			if (from[i].sll_pkttype == PACKET_OUTGOING || ip[9] != IPPROTO_UDP || !c ||
			    ((ip[2] << 8) | ip[3]) != size + 28 || count == 4 << 20)
				continue;
			memcpy(&t, CMSG_DATA(c), sizeof t);
			times[count++] = t.tv_sec * SECOND + t.tv_nsec;
			last = now();
		}
		if (count && now() - last > 3 * SECOND / 10)
			break;
		if (n < BATCH)
			until(now() + 1000000);
	}
	struct tpacket_stats dropped = { 0 };
	socklen_t length = sizeof dropped;
	must(!getsockopt(s, SOL_PACKET, PACKET_STATISTICS, &dropped, &length), "statistics");
	if (dropped.tp_drops)
		fprintf(stderr, "floor gaps: %u arrivals were missed\n", dropped.tp_drops);
	for (long long i = 0; i < count; i++)
		printf("%lld\n", times[i]);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "receive"))
		return receive(atoi(argv[2]), atoi(argv[3]), atoi(argv[4]));
	if (argc == 8 && !strcmp(argv[1], "send"))
		return send_all(argv[2], connected(argv[3], atoi(argv[4])), atoi(argv[5]),
				atoi(argv[6]), atof(argv[7]));
	if (argc == 8 && !strcmp(argv[1], "pace"))
		return pace(atof(argv[2]), connected(argv[3], atoi(argv[4])), atoi(argv[5]),
			    atoi(argv[6]), atof(argv[7]));
	if (argc == 5 && !strcmp(argv[1], "gaps"))
		return gaps(argv[2], atoi(argv[3]), atoi(argv[4]));
	fprintf(stderr, "see the head of floor.c\n");
	return 2;
}
