internal import Glibc

/// The file descriptors of this process. GLib aborts a process that cannot open the descriptors of a new pipeline.
package enum Descriptors {
    /// The number of descriptors that one peer connection needs, with a margin.
    static let perPeer = 16

    /// The soft limit of this process.
    package static var limit: Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            return 1024
        }
        return Int(clamping: limit.rlim_cur)
    }

    /// Whether this process can open the descriptors of `peers` more connections and keep a reserve.
    static func haveRoom(for peers: Int) -> Bool {
        guard let directory = opendir("/proc/self/fd") else {
            // Without /proc, the limit is unknown.
            return errno != EMFILE && errno != ENFILE
        }
        defer { closedir(directory) }
        var open = 0
        while readdir(directory) != nil { open += 1 }
        return haveRoom(for: peers, open: open, limit: limit)
    }

    /// The reserve is for recordings, outputs and HTTP connections: half of a low limit, and at most 384, because a
    /// listener keeps at most 256 connections.
    static func haveRoom(for peers: Int, open: Int, limit: Int) -> Bool {
        open + peers * perPeer + min(384, limit / 2) <= limit
    }
}
