/// A time of day that a test can shift, for programs started with ``environment``. Their monotonic
/// clock is the system's. A system call with a wall-clock timeout is off by the shift, as if the
/// clock were set back while it waits.
public struct ShiftedClock: Sendable {
    /// Added to the environment of a program.
    public let environment: [String: String]
    private let directory: TemporaryDirectory
    private static let file = "clock-shift"

    /// Builds the clock with cc; it initially shows the right time.
    public init(in directory: TemporaryDirectory) async throws {
        self.directory = directory
        let source = try directory.write(
            """
            #define _GNU_SOURCE
            #include <fcntl.h>
            #include <stdlib.h>
            #include <sys/syscall.h>
            #include <sys/time.h>
            #include <time.h>
            #include <unistd.h>
            static long shift(void) {
                char text[32] = "0";
                int file = open("\(directory.file(Self.file))", O_RDONLY | O_CLOEXEC);
                if (file < 0) return 0;
                long size = read(file, text, sizeof text - 1);
                close(file);
                return size > 0 ? strtol(text, 0, 10) : 0;
            }
            int clock_gettime(clockid_t clock, struct timespec *time) {
                int result = syscall(SYS_clock_gettime, clock, time);
                if (!result && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
                    time->tv_sec += shift();
                return result;
            }
            int gettimeofday(struct timeval *restrict value, void *restrict zone) {
                struct timespec now;
                clock_gettime(CLOCK_REALTIME, &now);
                value->tv_sec = now.tv_sec;
                value->tv_usec = now.tv_nsec / 1000;
                return 0;
            }
            time_t time(time_t *out) {
                struct timespec now;
                clock_gettime(CLOCK_REALTIME, &now);
                if (out) *out = now.tv_sec;
                return now.tv_sec;
            }
            """, to: "clock.c")
        let library = directory.file("clock.so")
        try await Tool.check("cc", ["-shared", "-fPIC", "-O1", "-o", library, source])
        environment = ["LD_PRELOAD": library]
    }

    /// Sets the clock `hours` ahead of the right time; negative values set it behind.
    public func set(hours: Int) throws {
        _ = try directory.write("\(hours * 3600)\n", to: Self.file)
    }
}
