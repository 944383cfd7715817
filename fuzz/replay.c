/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs files, or all files of folders, through a target once: for builds without libFuzzer. */
#include <dirent.h>
#include <sys/stat.h>

#include "fuzz.h"

static int replay_file(const char *path)
{
	struct stat st;
	uint8_t *data;
	FILE *f = fopen(path, "rb");

	if (!f || fstat(fileno(f), &st) || !(data = malloc((size_t)st.st_size + 1))) {
		perror(path);
		return 1;
	}
	if (fread(data, 1, (size_t)st.st_size, f) != (size_t)st.st_size) {
		perror(path);
		return 1;
	}
	fclose(f);
	/* Exactly as long as the file, so that a sanitizer sees a read past its end. */
	data = realloc(data, st.st_size ? (size_t)st.st_size : 1);
	LLVMFuzzerTestOneInput(data, (size_t)st.st_size);
	free(data);
	return 0;
}

static int replay_folder(const char *path, DIR *dir, int *count)
{
	struct dirent *e;
	char name[4096];
	int bad = 0;

	while ((e = readdir(dir))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "%s/%s", path, e->d_name);
		bad |= replay_file(name);
		(*count)++;
	}
	closedir(dir);
	return bad;
}

int main(int argc, char **argv)
{
	int bad = 0, count = 0;

	for (int i = 1; i < argc; i++) {
		DIR *dir = opendir(argv[i]);

		if (dir) {
			bad |= replay_folder(argv[i], dir, &count);
		} else {
			bad |= replay_file(argv[i]);
			count++;
		}
	}
	printf("%d files\n", count);
	return bad || !count;
}
