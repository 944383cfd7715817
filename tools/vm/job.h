/* SPDX-License-Identifier: BSD-2-Clause */
/* The job that the host gives the guest: NUL-terminated strings, the first character of each says what it is. */
#ifndef JOB_H
#define JOB_H

enum job_item {
	JOB_ARG = 'a',     /* the command, word by word */
	JOB_ENV = 'e',     /* NAME=VALUE */
	JOB_CWD = 'c',     /* working directory; "/" if the guest does not have it */
	JOB_TIME = 't',    /* seconds.nanoseconds of the host's clock */
	JOB_RANDOM = 'r',  /* hex: for the entropy pool, as a snapshot has the same for all that begin from it */
	JOB_NAME = 'h',    /* host name */
	JOB_DEVICES = 'n', /* how many verbs devices to wait for */
	JOB_TTY = 'w',     /* "rows columns": the command gets a terminal */
	JOB_STDERR = '2',  /* with a terminal, stderr is one of its own */
	JOB_MODULES = 'm', /* a tree of modules is shared */
	JOB_CONTROLS = 'p', /* how many ports lead to the devices' control lines */
	JOB_SHARE = 's',   /* "tag path": a shared directory, writable, at the same path as on the host */
};

/* The tags of the 9p shares. */
#define JOB_TAG_ROOT "root"
#define JOB_TAG_MODULES "modules"
#define JOB_TAG_SHARE "share%d"

/* The name of the virtio port, and where the initramfs has what. */
#define JOB_PORT "org.opendevx.vm"
#define JOB_CONTROL "org.opendevx.control" /* of one device; of several, with .0, .1, ... */
#define JOB_MODULE_LIST "/modules/list" /* files of /modules, in the order to load */
#define JOB_INDEX "/index"              /* modules.dep and others, if the kernel's tree has none */

#endif
