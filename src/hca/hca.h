/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The software ConnectX. Single-threaded and deterministic: submit commands, then ask what is due at a time. It knows no
 * threads, descriptors or clocks; whoever embeds it serialises the calls and brings the time, which never goes back.
 */
#ifndef HCA_H
#define HCA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host.h"

#define HCA_SLOTS 31u            /* commands that execute at a time: 32 less the one that Linux keeps for pages */
#define HCA_NEVER UINT64_MAX
#define HCA_DELAY_MAX (UINT64_C(1) << 40)

enum hca_profile { HCA_CX5, HCA_CX6DX, HCA_CX7, HCA_BF3, HCA_N_PROFILES };

struct hca_config {
	enum hca_profile profile;
	uint64_t latency;  /* ns from start to completion */
	uint64_t jitter;   /* ns, up to this much more, at random */
	uint64_t timeout;  /* ns until a command counts as timed out */
	uint64_t seed;     /* of jitter and reorder */
	uint64_t guid;     /* of the node and its port */
	bool reorder;      /* completions of what executes at one time come in random order */
	bool strict;       /* set bits that no layout defines are refused */
	/*
	 * A PCI function's: nothing is set up, a driver initialises it by commands and is uid 0, and event queues exist only as it
	 * creates them. told: each write to an EQ's doorbell is reported by hca_doorbell(), so that arming is known exactly.
	 */
	bool bare, told;
	uint64_t memory; /* bytes that objects may take altogether, or so: a limit for what a guest makes the process hold; 0: none */
};

enum hca_end {
	HCA_DONE,      /* executed: box holds the outbox */
	HCA_TIMED_OUT, /* started, and no answer within the timeout */
	HCA_NO_SLOT,   /* waited for a slot for a whole timeout (Linux: EBUSY) */
	HCA_NOT_STARTED, /* gave up behind others that waited for a slot (Linux: ECANCELED) */
	HCA_ABORTED,   /* the device was removed */
};

/*
 * A command. The embedder owns it and keeps it until hca_due() returned it. box holds the inbox at submit and the outbox
 * when done, and has room for the longer of the two; what did not end as HCA_DONE leaves in it nothing of use.
 * Kept small on purpose: a program may queue 65,536 of these. The embedder fills async, inlen, outlen and box.
 */
struct hca_cmd {
	struct hca_cmd *next;
	uint64_t due;
	uint32_t inlen; /* may pass 65,535: commands that the driver itself builds (CREATE_UMEM) are not bound by the user ABI */
	uint16_t outlen;
	uint16_t opcode;      /* filled by hca_submit: the box loses it when the command executes */
	uint64_t delay : 40;  /* ns, of a fault rule */
	uint64_t slot : 6;
	uint64_t end : 4;     /* enum hca_end */
	uint64_t async : 1;   /* hold concerns only these */
	uint64_t executed : 1;
	uint8_t box[];
};

struct hca;

/* NULL: no memory. The config is copied. */
struct hca *hca_new(const struct hca_config *config, const struct hca_host *ops, void *host);
void hca_free(struct hca *h); /* no command may be inside */

/* Every submitted command comes back from hca_due() exactly once. */
void hca_submit(struct hca *h, struct hca_cmd *cmd, uint64_t now);
/*
 * Commands (a chain by next) that will be submitted soon: brings what they will touch towards the cache, so that with many
 * objects the misses of several commands overlap. Changes nothing.
 */
void hca_prefetch(struct hca *h, const struct hca_cmd *cmds, unsigned int n);
bool hca_stalled(const struct hca *h); /* every slot is owned by a command that timed out: drivers refuse new ones (EAGAIN) */
struct hca_cmd *hca_due(struct hca *h, uint64_t now); /* the next that has ended by now, or NULL */
uint64_t hca_next(struct hca *h);                     /* when the next one ends; HCA_NEVER */

/* One command at once, beside the queue: no slot, no fault rule, no time. For the embedder's own housekeeping. */
void hca_execute(struct hca *h, const void *in, uint32_t inlen, void *out, uint32_t outlen);

/* Asynchronous commands, those that execute now too, are kept back until they are released, oldest first, or time out. */
void hca_hold(struct hca *h, uint64_t now);
void hca_release(struct hca *h, uint32_t n, uint64_t now);
void hca_remove(struct hca *h);

/*
 * As at power-on: no objects, nothing set, and a bare one waits for ENABLE_HCA. Fault rules, counters of the port and its wire stay.
 * Commands that the embedder keeps itself are its own affair; none may be inside.
 */
void hca_reset(struct hca *h);
/* The same, and what was counted is gone too, with the headers of the last packet that was dropped: for somebody else. */
void hca_renew(struct hca *h);

/* The same answer as a failed command: outbox of zeros with a status and a syndrome. */
void hca_fail(uint8_t *out, uint32_t outlen, uint8_t status, uint32_t syndrome);

struct hca_fault {
	bool any_opcode;
	uint16_t opcode;
	uint64_t nth;      /* 0: every match */
	enum { HCA_FAULT_STATUS, HCA_FAULT_HANG, HCA_FAULT_DELAY } kind;
	uint8_t status;
	uint32_t syndrome;
	uint64_t delay;    /* ns, below HCA_DELAY_MAX */
};

bool hca_fault_add(struct hca *h, const struct hca_fault *fault); /* false: no memory, or 4,096 rules are set */
/* For embedders that keep slots and time themselves: counts the command in every rule, and tells the one that fires. */
bool hca_fault_match(struct hca *h, uint16_t opcode, struct hca_fault *fired);
void hca_fault_clear(struct hca *h, uint64_t now);

/* False: no such counter, of whatever uid. */
bool hca_traffic(struct hca *h, uint32_t counter_id, uint64_t packets, uint64_t octets);

/* The port's link goes down or comes up, and an event says so; it is up at the start. False: no such port. */
bool hca_port(struct hca *h, uint32_t port, bool up);
bool hca_port_up(const struct hca *h, uint32_t port); /* false also when there is no such port */

/*
 * An event on the object of that id which the create command made_by makes (type: of a general object), of whatever uid, with
 * what it does to the object.
 * syndrome: of events that carry one; else 0.
 */
enum hca_raised {
	HCA_RAISED,
	HCA_NO_OBJECT,
	HCA_NO_EVENT, /* such objects have no such event */
	HCA_NOT_NOW,  /* the state of the object does not allow it, or the syndrome is not one of the event's */
};
enum hca_raised hca_event(struct hca *h, uint16_t made_by, uint16_t type, uint32_t id, uint16_t event, uint8_t syndrome);

/* What became of a packet from the wire. */
#define HCA_FRAME_MIN 14u
#define HCA_FRAME_MAX 65535u
#define HCA_PACKET_TIRS 32u

struct hca_packet {
	bool link_down;     /* of the port: then nothing arrives */
	uint32_t walks;     /* the root's, or one for each user context that has a receive table */
	uint32_t delivered; /* of them: to a TIR or more */
	uint32_t dropped, allowed, missed; /* how the ways ended that did not end at TIRs */
	uint32_t n_tirs;    /* altogether */
	uint32_t tirn[HCA_PACKET_TIRS]; /* the first of them */
};

/* A frame that arrives at a port, counted from 1; while its link is down nothing walks. False: its length or the port is none. */
bool hca_packet(struct hca *h, const void *frame, size_t len, uint32_t port, struct hca_packet *result);

/* Completion EQs, which exist from the start: EQN of a completion vector. False: no such vector. */
#define HCA_EQS 4u
#define HCA_FIRST_EQN 1u
#define HCA_UAR_FIRST 256u /* UAR pages are numbered from the start of BAR0, whose first MiB holds the function's registers */
#define HCA_VECTORS 64u /* MSI vectors; the first HCA_EQS are the driver's, the others are for EQs of programs */
bool hca_eqn(struct hca *h, uint32_t vector, uint32_t *eqn);

/*
 * Of a bare one. A write of value (in the host's order) to an EQ's doorbell, at an offset of a UAR page; and the driver's
 * commands in these slots are done: an EQE tells it, if there is a command EQ. False: there is none, and the driver polls.
 */
void hca_doorbell(struct hca *h, uint32_t uar_page, uint32_t offset, uint32_t value);
bool hca_commands_done(struct hca *h, uint32_t slots);
bool hca_commands_told(struct hca *h); /* there is a command EQ */
/* What a bare one has: objects, pages that its driver gave it, and bytes of hca_config.memory that are taken. */
struct hca_usage {
	uint32_t objects, pages;
	uint64_t memory;
};
struct hca_usage hca_usage(const struct hca *h);
uint32_t hca_timer_khz(const struct hca *h); /* the internal timer's frequency, as the capabilities tell it */

const char *hca_profile_name(enum hca_profile p); /* "cx5", "cx6dx", "cx7", "bf3" */

/* strict's refusals carry the place: the low 20 bits are the first bit of the inbox that is set and not defined. */
#define HCA_STRICT 0x0d500000u
#define HCA_IS_STRICT(syndrome) ((syndrome) >> 20 == HCA_STRICT >> 20)

/* The meaning of one of our syndromes (a stable number for each distinct refusal) to buf; false: not one of ours. */
bool hca_syndrome_text(uint32_t syndrome, char *buf, size_t len);

#endif
