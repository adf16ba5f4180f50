import Foundation
import TestSupport

/// What a program did to one file: its writes and flushes, and the lines that it printed in between,
/// all in their order.
///
/// A library that is preloaded into the program records them. It can also make flushes fail or take
/// long, and kill the program within a write.
struct WriteLog: Sendable {
    enum Step: Sendable {
        case write(offset: Int, Range<Int>)
        case resize(Int)
        /// A flush begins, and ends: what was written before its beginning is on the disk after its end.
        case flushBegan(Int)
        case flushed(Int)
        /// A directory was flushed.
        case flushedDirectory(String)
        case reported(String)
    }
    private(set) var steps: [Step] = []
    /// The bytes of all writes.
    let bytes: Data

    /// The faults that the library injects.
    struct Faults {
        /// The size of the file in bytes from which one flush, the next, fails with EIO; 0: none.
        var failingSize = 0
        /// The duration of a flush in milliseconds.
        var flushTime = 0
        /// The program is killed within this `pwrite`, counted from zero, after a part of it in thousandths.
        var kill: (write: Int, part: Int)?
    }

    /// The command that starts a program with the library.
    static func command(
        for path: String, in directory: TemporaryDirectory, _ faults: Faults = Faults()
    ) async throws -> [String] {
        let library = directory.file("writes.so")
        if !FileManager.default.fileExists(atPath: library) {
            let source = try directory.write(Self.library, to: "writes.c")
            try await Tool.check("cc", ["-shared", "-fPIC", "-O1", "-o", library, source])
        }
        // As the kernel names it.
        let real = URL(filePath: path).resolvingSymlinksInPath().path
        return [
            "env", "LD_PRELOAD=\(library)", "WRITES_OF=\(real)", "WRITES_TO=\(path).log",
            "WRITES_FAIL=\(faults.failingSize)", "WRITES_SLOW=\(faults.flushTime)",
            "WRITES_KILL=\(faults.kill?.write ?? -1)", "WRITES_PART=\(faults.kill?.part ?? 0)",
        ]
    }

    /// Reads what was recorded for a file.
    init(of path: String) throws {
        bytes = try Data(contentsOf: URL(fileURLWithPath: "\(path).log"), options: .alwaysMapped)
        var at = 0
        while at + 32 <= bytes.count {
            let header = bytes[at..<at + 32].withUnsafeBytes {
                $0.loadUnaligned(as: (Int, Int, Int, Int).self)
            }
            let content = at + 32..<at + 32 + header.2
            guard content.upperBound <= bytes.count else { break }
            switch header.0 {
            case 1: steps.append(.write(offset: header.1, content))
            case 2: steps.append(.resize(header.1))
            case 3: steps.append(.flushBegan(header.1))
            case 4: steps.append(.flushed(header.1))
            case 5: steps.append(.flushedDirectory(text(content)))
            default: steps.append(.reported(text(content)))
            }
            at = content.upperBound
        }
    }

    private func text(_ range: Range<Int>) -> String {
        String(decoding: bytes[range], as: UTF8.self)
    }

    private static let library = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <errno.h>
        #include <fcntl.h>
        #include <pthread.h>
        #include <signal.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <sys/stat.h>
        #include <sys/syscall.h>
        #include <sys/uio.h>
        #include <unistd.h>

        static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
        static int journal = -1;
        static long flushes, writes;

        static long number(const char *name) {
            const char *text = getenv(name);
            return text ? atol(text) : 0;
        }
        static long name(int file, char path[4096]) {
            char link[64];
            snprintf(link, sizeof link, "/proc/self/fd/%d", file);
            long size = readlink(link, path, 4095);
            path[size < 0 ? 0 : size] = 0;
            return size;
        }
        static int is_ours(int file) {
            char path[4096];
            const char *wanted = getenv("WRITES_OF");
            return wanted && file >= 0 && name(file, path) > 0 && !strcmp(path, wanted);
        }
        // Called with the lock held.
        static void note(long kind, long offset, const struct iovec *parts, int count, long size) {
            if (journal < 0)
                journal = open(getenv("WRITES_TO"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
            long header[4] = {kind, offset, size, 0};
            syscall(SYS_write, journal, header, sizeof header);
            for (int i = 0; i < count && size > 0; i++) {
                long part = (long)parts[i].iov_len < size ? (long)parts[i].iov_len : size;
                syscall(SYS_write, journal, parts[i].iov_base, part);
                size -= part;
            }
        }
        ssize_t writev(int file, const struct iovec *parts, int count) {
            if (!is_ours(file)) return syscall(SYS_writev, file, parts, count);
            pthread_mutex_lock(&lock);
            long offset = lseek(file, 0, SEEK_CUR);
            long done = syscall(SYS_writev, file, parts, count);
            if (done > 0) note(1, offset, parts, count, done);
            pthread_mutex_unlock(&lock);
            return done;
        }
        ssize_t write(int file, const void *bytes, size_t size) {
            struct iovec part = {(void *)bytes, size};
            if (is_ours(file)) return writev(file, &part, 1);
            if (file != 1 || !getenv("WRITES_OF")) return syscall(SYS_write, file, bytes, size);
            pthread_mutex_lock(&lock);
            note(6, 0, &part, 1, size);
            long done = syscall(SYS_write, file, bytes, size);
            pthread_mutex_unlock(&lock);
            return done;
        }
        ssize_t pwrite64(int file, const void *bytes, size_t size, off64_t offset) {
            if (!is_ours(file)) return syscall(SYS_pwrite64, file, bytes, size, offset);
            pthread_mutex_lock(&lock);
            if (writes++ == number("WRITES_KILL")) {
                // The kernel looks for a signal between two pages only.
                off64_t end = offset + size * number("WRITES_PART") / 1000;
                if (end < offset + (off64_t)size) end = end / 4096 * 4096;
                if (end > offset) syscall(SYS_pwrite64, file, bytes, end - offset, offset);
                kill(getpid(), SIGKILL);
                for (;;) pause();
            }
            struct iovec part = {(void *)bytes, size};
            long done = syscall(SYS_pwrite64, file, bytes, size, offset);
            if (done > 0) note(1, offset, &part, 1, done);
            pthread_mutex_unlock(&lock);
            return done;
        }
        ssize_t pwrite(int file, const void *bytes, size_t size, off_t offset) {
            return pwrite64(file, bytes, size, offset);
        }
        int ftruncate64(int file, off64_t size) {
            if (!is_ours(file)) return syscall(SYS_ftruncate, file, size);
            pthread_mutex_lock(&lock);
            int result = syscall(SYS_ftruncate, file, size);
            if (!result) note(2, size, 0, 0, 0);
            pthread_mutex_unlock(&lock);
            return result;
        }
        int ftruncate(int file, off_t size) { return ftruncate64(file, size); }
        static int has_failed;
        static int flush(long call, int file) {
            struct stat about;
            int ours = is_ours(file);
            int directory = !ours && getenv("WRITES_OF") && !fstat(file, &about) && S_ISDIR(about.st_mode);
            if (!ours && !directory) return syscall(call, file);
            pthread_mutex_lock(&lock);
            long mine = ours ? ++flushes : 0;
            if (ours) note(3, mine, 0, 0, 0);
            pthread_mutex_unlock(&lock);
            if (ours) usleep(1000 * number("WRITES_SLOW"));
            int result = syscall(call, file);
            pthread_mutex_lock(&lock);
            long least = number("WRITES_FAIL");
            if (ours && least && !has_failed && !fstat(file, &about) && about.st_size >= least) {
                has_failed = 1;
                result = -1;
                errno = EIO;
            } else if (!result && ours) {
                note(4, mine, 0, 0, 0);
            } else if (!result) {
                char path[4096];
                struct iovec part = {path, 0};
                part.iov_len = name(file, path);
                note(5, 0, &part, 1, part.iov_len);
            }
            pthread_mutex_unlock(&lock);
            return result;
        }
        int fdatasync(int file) { return flush(SYS_fdatasync, file); }
        int fsync(int file) { return flush(SYS_fsync, file); }
        """
}
