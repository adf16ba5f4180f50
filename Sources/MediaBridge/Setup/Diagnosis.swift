internal import Glibc

/// A check of what a machine has and lacks for bridging, as printed by `gst-bridge doctor`.
package struct Diagnosis: Sendable {
    /// The result of one check. Scripts can rely on its JSON format.
    package struct Finding: Hashable, Sendable, Encodable {
        /// The outcome of a check.
        package enum Verdict: String, Hashable, Sendable, Encodable {
            /// The item is present and works.
            case ok
            /// The item is missing, which causes no error until a pipeline needs it.
            case missing
            /// The item is present and fails.
            case broken
        }
        /// What was checked.
        package var name: String
        /// The outcome of the check.
        package var verdict: Verdict
        /// A version, a name or the cause of a failure.
        package var detail: String
        /// What to do about it; `nil` if nothing needs to be done.
        package var advice: String?
    }

    /// The results, in the order of the checks.
    package private(set) var findings: [Finding] = []

    /// Whether nothing is broken. A missing item, such as a camera or an encoder, causes no error
    /// until a pipeline needs it.
    package var isHealthy: Bool { !findings.contains { $0.verdict == .broken } }

    /// Checks the machine and the given pipeline files. May take a second; call it in the control
    /// zone.
    ///
    /// - Parameters:
    ///   - files: Paths of pipeline files.
    ///   - plugins: Directories with plugins, which are loaded first.
    package init(files: [String] = [], plugins: [String] = []) {
        do throws(PipelineError) {
            try GStreamer.initialize()
            note("GStreamer", .ok, GStreamer.version)
        } catch {
            note("GStreamer", .broken, error.message, error.advice)
            return
        }
        for directory in plugins {
            do throws(PipelineError) {
                let names = try GStreamer.loadPlugins(in: directory)
                note("plugins in \(directory)", .ok, names.joined(separator: ", "))
            } catch {
                note("plugins in \(directory)", .broken, error.message, error.advice)
            }
        }
        for (purpose, element) in Self.elements { look(for: element, purpose) }
        tryHardwareEncoders()
        let janus = Self.path(of: "janus")
        note(
            "channel server: host (janus)", janus == nil ? .missing : .ok,
            janus ?? "not installed",
            janus == nil ? "apt install janus (not in Debian 13: build it from source)" : nil)
        let cameras = (try? Device.list(klass: "Video/Source")) ?? []
        note(
            "camera", cameras.isEmpty ? .missing : .ok,
            cameras.isEmpty ? "none found" : cameras.map(\.name).joined(separator: ", "))
        note(
            "display", DefaultCapture.display == nil ? .missing : .ok,
            DefaultCapture.display ?? "DISPLAY is not set",
            DefaultCapture.display == nil ? "xvfb-run provides one without a screen" : nil)
        note(
            "untrusted pipelines (--untrusted)", Sandbox.kernelVersion == nil ? .missing : .ok,
            Sandbox.kernelVersion.map { "Landlock, version \($0)" } ?? "no Landlock",
            Sandbox.kernelVersion == nil ? "Linux 5.13 or later, booted with lsm=landlock,…" : nil
        )
        for file in files { check(file) }
    }

    /// The elements that pipelines need most often, each with its purpose.
    private static let elements = [
        ("frames into Swift", "appsink"), ("frames out of Swift", "appsrc"),
        ("test pattern", "videotestsrc"), ("any file", "decodebin"),
        ("conversion", "videoconvert"), ("camera", "v4l2src"), ("screen", "ximagesrc"),
        ("window", "ximagesink"), ("H.264", "x264enc"), ("H.265", "x265enc"),
        ("H.264 parser", "h264parse"),
        ("VP8", "vp8enc"), ("VP9", "vp9enc"), ("FFV1", "avenc_ffv1"), ("Opus", "opusenc"),
        ("AAC", "avenc_aac"), ("FLAC", "flacenc"), ("JPEG", "jpegenc"), ("PNG", "pngenc"),
        ("Matroska", "matroskamux"), ("MP4", "mp4mux"), ("WebM", "webmmux"),
        ("MPEG-TS", "mpegtsmux"), ("RTP", "rtph264pay"), ("RTSP", "rtspsrc"),
        ("H.264 decoder", "avdec_h264"), ("WebRTC: share, receive, join", "webrtcbin"),
        ("WebRTC network", "nicesrc"), ("WebRTC encryption", "dtlsenc"),
    ]

    /// Returns the path of a program; `nil` if there is none.
    private static func path(of program: String) -> String? {
        let directories = getenv("PATH").map { String(cString: $0) } ?? ""
        return directories.split(separator: ":").map { "\($0)/\(program)" }
            .first { access($0, X_OK) == 0 }
    }

    /// Tries the encoders of hardware. Their plugins register them only if they find a device.
    private mutating func tryHardwareEncoders() {
        let rows = VideoEncoderElement.table.filter { $0.isHardware && $0.isInstalled }
        if rows.isEmpty {
            note(
                "hardware encoders", .missing, "no plugin has found a device",
                "gst-inspect-1.0 va, nvcodec, qsv or video4linux2 lists what a plugin has found")
        }
        for row in rows {
            let refusal = row.refusal()
            note(
                "\(row.codec.rawValue) by hardware (\(row.factoryName))",
                refusal == nil ? .ok : .missing, refusal ?? "has encoded a picture",
                refusal == nil ? "--encoder \(row.factoryName) selects it" : nil)
        }
    }

    private mutating func look(for element: String, _ purpose: String) {
        let needed = ["appsink", "appsrc"].contains(element)
        if let factory = try? ElementFactory.find(element) {
            note("\(purpose) (\(element))", .ok, factory.longName)
        } else {
            note(
                "\(purpose) (\(element))", needed ? .broken : .missing, "not installed",
                DebianPackage.providing(element: element).map { "apt install \($0)" })
        }
    }

    private mutating func check(_ path: String) {
        do throws(PipelineError) {
            let file = try PipelineFile(path: path)
            var values: [String: String] = [:]
            for variable in file.variables where variable.defaultValue == nil {
                values[variable.name] = "1"  // any value does to check the strings
            }
            var plan = try file.plan(setting: values)
            if plan.captures.isEmpty {
                plan.captures = [.init(name: BridgePlan.defaultCapture, text: "videotestsrc")]
            }
            try plan.replaceAddresses()
            _ = try Bridge(plan)
            let unused = file.unusedVariables.map(\.name).joined(separator: ", ")
            note(
                path, .ok, file.about,
                unused.isEmpty ? nil : "remove the unused variables: \(unused)")
        } catch {
            note(path, .broken, error.message, error.advice)
        }
    }

    private mutating func note(
        _ name: String, _ verdict: Finding.Verdict, _ detail: String, _ advice: String? = nil
    ) {
        findings.append(Finding(name: name, verdict: verdict, detail: detail, advice: advice))
    }
}

extension BridgePlan {
    /// Replaces the addresses (`whep:`, `whip:`) by streams of both kinds, so that the strings beside
    /// them can be checked without a connection.
    ///
    /// - Throws: ``PipelineError`` if an element that a connection needs is not installed.
    fileprivate mutating func replaceAddresses() throws(PipelineError) {
        guard !addresses.isEmpty else { return }
        for element in ["webrtcbin", "nicesrc", "dtlsenc"] {
            _ = try ElementFactory.find(element)
        }
        for index in captures.indices where Self.isAddress(captures[index].text, scheme: "whep") {
            captures[index].text =
                "videotestsrc ! appsink name=video audiotestsrc ! appsink name=audio"
        }
        outputs.removeAll { Self.isAddress($0.text, scheme: "whip") }
    }
}
