// measure FILE PROGRAM ARGUMENT…: runs a program until it exits, and writes its cost into FILE: user, system and
// wall-clock time in seconds, peak resident memory in kilobytes, and context switches. Exit status: that of the
// program.
//
// A separate process, because a program inherits the peak memory of its parent.
#include <stdio.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval time) { return time.tv_sec + time.tv_usec / 1e6; }

int main(int argc, char **argv) {
    if (argc < 3) return 64;
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    pid_t child = fork();
    if (child == 0) {
        execvp(argv[2], argv + 2);
        perror(argv[2]);
        _exit(127);
    }
    int status;
    struct rusage usage;
    if (child < 0 || wait4(child, &status, 0, &usage) < 0) {
        perror("measure");
        return 70;
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    FILE *file = fopen(argv[1], "w");
    if (!file) {
        perror(argv[1]);
        return 73;
    }
    fprintf(
        file, "%f %f %f %ld %ld\n", seconds(usage.ru_utime), seconds(usage.ru_stime),
        (end.tv_sec - start.tv_sec) + (end.tv_nsec - start.tv_nsec) / 1e9, usage.ru_maxrss,
        usage.ru_nvcsw + usage.ru_nivcsw);
    fclose(file);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
