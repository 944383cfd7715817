/* SPDX-License-Identifier: BSD-2-Clause */
/* Bytes out of the text that other tools print, and out of nonsense. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hex.h"

#define MAX 64u

static void same(const char *text, const char *want, size_t want_len)
{
	size_t len = strlen(text), n;
	char *exact = malloc(len + 1); /* no NUL behind it */
	uint8_t out[MAX];
	unsigned int line;
	const char *why = NULL;

	memcpy(exact, text, len);
	if (!hex_read(exact, len, out, MAX, &n, &line, &why))
		fail_msg("line %u: %s, of:\n%s", line, why, text);
	assert_int_equal(n, want_len);
	assert_memory_equal(out, want, n);
	free(exact);
}

static void reads(void **state)
{
	static const char w[] = "\x04\x00\x00\x05\x00\x00\x00\x00\x10\x11\x12\x13\x14\x15\x16\x17\xa0\xa1";

	same("0400000500000000 1011121314151617 a0A1", w, 18);
	same("04 00 00 05\n00 00 00 00\n\n10 11 12 13 14 15 16 17 a0 a1\n", w, 18);
	/* xxd; hexdump -C; hexdump; od -A x -t x1; a kernel's dump */
	same("00000000: 0400 0005 0000 0000 1011 1213 1415 1617  ................\n"
	     "00000010: a0a1                                     ..\n", w, 18);
	same("00000000  04 00 00 05 00 00 00 00  10 11 12 13 14 15 16 17  |................|\n"
	     "00000010  a0 a1       |..|\n00000012\n", w, 18);
	same("0000000 0004 0500 0000 0000 1110 1312 1514 1716\n0000010 a1a0\n0000012\n", w, 18);
	same("000000 04 00 00 05 00 00 00 00 10 11 12 13 14 15 16 17\n000010 a0 a1\n000012\n", w, 18);
	same("000: 04000005 00000000 10111213 14151617\n010: a0a1\n", w, 18);
	same("cmd[0]: 000: 04000005 00000000 10111213 14151617\ncmd[0]: 010: a0a1\n", w, 18);
	same("[   12.345678] cmd[13]: 000: 04000005 00000000 10111213 14151617\n[   12.345681] cmd[13]: 010: a0a1\n", w, 18);
	same("[12.345678] 04000005 00000000\n", w, 8);
	/* C, in bytes and in big-endian words */
	same("0x04, 0x00, 0x00, 0x05, 0, 0, 0, 0, 0x10,0x11,0x12,0x13,0x14,0x15,0x16,0x17, 160, 161", w, 18);
	same("unsigned char in_0x5[] = {\n  0x04, 0x0, 0x00, 0x5,\n  0, 0, 0, 0 };\nunsigned int len = 8;\n", w, 8);
	same("{ 0x4000005, 0, 0x10111213u, 0x14151617UL }", w, 16);
	same("\"\\x04\\x00\\x00\\x05\"\n\"\\x00\\x00\\x00\\x00\"", w, 8);
	same("0x0400, 0x0005", w, 4);
	same("# a comment\n04000005\n", w, 4);
	/* Words of zero that might be offsets are none. */
	same("00000000 00000000\n", "\0\0\0\0\0\0\0\0", 8);
	same("00000000\n", "\0\0\0\0", 4);
	/* A run of equal lines. */
	same("00000000  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|\n*\n00000030  01\n00000031\n",
	     "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1", 49);
	same("", "", 0);
	same(" \n\t\r\n", "", 0);
}

static void refuses(void **state)
{
	static const struct { const char *text; unsigned int line; } wrong[] = {
		{ "123", 1 }, { "04 0", 1 }, { "zz", 1 }, { "04\n0g", 2 }, { "04-05", 1 }, { "0x", 1 }, { "0x12, zz", 1 }, { "0x12, 256", 1 },
		{ "0x12345678123456789", 1 }, { "00000000: 04\n00000010: 04\n", 2 }, { "00000000: 04\n04 05\n", 2 },
		{ "00000000  04\n*\n", 2 }, { "*", 1 }, { "00000000  04 05\n*\n00000000\n", 3 }, { "00000000  04\n*\nffffffff\n", 3 },
		{ "0x04; rm -rf", 1 }, { "[", 1 }, { "[12", 1 }, { "[x] 04", 1 }, { "cmd[", 1 }, { "cmd[1] 04", 1 },
		{ "cmd[1]: x", 1 }, { "{ 0x04, }\n{ 0x05", 0 }, { "\"\\x4z\"", 1 },
	};
	uint8_t out[MAX];
	char big[MAX * 2 + 3];
	unsigned int line;
	const char *why;
	size_t n;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		why = NULL;
		if (hex_read(wrong[i].text, strlen(wrong[i].text), out, MAX, &n, &line, &why)) {
			if (wrong[i].line)
				fail_msg("taken: %s", wrong[i].text);
			continue; /* what follows the first brace is another array */
		}
		if (line != wrong[i].line || !why)
			fail_msg("line %u: %s, of: %s", line, why, wrong[i].text);
	}
	memset(big, '0', sizeof(big));
	assert_true(hex_read(big, MAX * 2, out, MAX, &n, &line, &why));
	assert_false(hex_read(big, MAX * 2 + 2, out, MAX, &n, &line, &why));
}

static void tells_text(void **state)
{
	assert_true(hex_is_text("0400 \n\t", 7));
	assert_false(hex_is_text("\x04\x00", 2));
	assert_false(hex_is_text("04\xff", 3));
	assert_false(hex_is_text("04\0", 3));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(reads), cmocka_unit_test(refuses), cmocka_unit_test(tells_text) };

	return cmocka_run_group_tests_name("hex", tests, NULL, NULL);
}
