internal import CSandbox
public import GStreamerKit
internal import Glibc

extension Sandbox {
    /// Confines this program and re-executes it, so that every thread is covered and no file
    /// descriptor stays open except standard input, output and error. The new program sees in
    /// ``isEntered`` that it is inside.
    ///
    /// Updates GStreamer's registry first, because that is not possible inside. Only the
    /// environment variables that GStreamer, its libraries and the locale need are passed on, by
    /// name: no secrets. A terminal is passed on for writing only; if standard input is a terminal,
    /// it becomes empty.
    ///
    /// - Parameter arguments: Arguments of the new program, without its name.
    /// - Throws: ``PipelineError``; otherwise it does not return.
    public func enterAndRestart(arguments: [String]) throws(PipelineError) -> Never {
        try GStreamer.initialize()
        let program = try Self.ownPath()
        let environment = environmentInside()
        var inside = self
        inside.readable += Self.registryPaths
        Self.giveUpTerminalInput()
        try inside.enter()
        // A thread of a pool blocks signals, and the new program would inherit its mask.
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
        closefrom(3)
        let argv = ([program] + arguments).map { strdup($0) } + [nil]
        let envp = environment.map { strdup("\($0)=\($1)") } + [nil]
        execve(program, argv, envp)
        throw PipelineError(
            .sandboxUnavailable,
            message: "cannot restart inside the sandbox: \(String(cString: strerror(errno)))")
    }

    /// The standard descriptors of a terminal share one description that is open for reading and
    /// writing: a process that may print can also read what is typed, and change the shell's
    /// terminal settings. So standard input becomes empty, and the others are reopened for writing
    /// only.
    private static func giveUpTerminalInput() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where isatty(descriptor) != 0 {
            let isInput = descriptor == STDIN_FILENO
            let new = open(
                isInput ? "/dev/null" : "/proc/self/fd/\(descriptor)",
                (isInput ? O_RDONLY : O_WRONLY) | O_NOCTTY)
            guard new >= 0 else { continue }
            dup2(new, descriptor)
            close(new)
        }
    }

    private static func ownPath() throws(PipelineError) -> String {
        guard let path = realpath("/proc/self/exe", nil) else {
            throw PipelineError(
                .sandboxUnavailable, message: "cannot find this program's executable")
        }
        defer { free(path) }
        return String(cString: path)
    }

    private func environmentInside() -> [String: String] {
        var result: [String: String] = [:]
        for name in Self.passed {
            if let value = getenv(name) { result[name] = String(cString: value) }
        }
        result["TMPDIR"] = directory
        result["GST_REGISTRY_UPDATE"] = "no"
        result["GST_REGISTRY_FORK"] = "no"
        return result
    }

    /// Paths of GStreamer's registry and of the user's own plugins.
    private static var registryPaths: [String] {
        func value(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
        var paths = ["GST_REGISTRY", "GST_REGISTRY_1_0"].compactMap { value($0) }
        for name in ["GST_PLUGIN_PATH", "GST_PLUGIN_PATH_1_0", "GST_PLUGIN_SYSTEM_PATH"] {
            paths += (value(name) ?? "").split(separator: ":").map(String.init)
        }
        let home = value("HOME") ?? ""
        paths.append("\(value("XDG_CACHE_HOME") ?? "\(home)/.cache")/gstreamer-1.0")
        return paths
    }
}
