import Foundation
import TestSupport
import Testing

extension CommandTests {
    /// No stream is lost silently: it arrives completely, or the run fails and names the stream and
    /// the reason.
    @Suite(.hangGuard) struct LostStreamTests {
        /// The video begins after the audio, so that a demuxer that adds pads while data flows has
        /// delivered much audio by then. In FLV the delay is less than a second, because an FLV
        /// muxer waits no longer.
        enum Film: String, CaseIterable, CustomTestStringConvertible {
            case flvmux, matroskamux, mpegtsmux
            var testDescription: String { rawValue }

            var demuxer: String {
                switch self {
                case .flvmux: "flvdemux"
                case .matroskamux: "matroskademux"
                case .mpegtsmux: "tsdemux"
                }
            }

            /// 60 frames starting at three seconds, and six seconds of audio.
            func make(in directory: TemporaryDirectory) async throws -> String {
                let path = directory.file("film")
                try await Tool.check(
                    "gst-launch-1.0",
                    "-q audiotestsrc num-buffers=258 ! audio/x-raw,rate=44100 ! avenc_aac ! aacparse ! \(rawValue) name=m ! filesink location=\(path) videotestsrc num-buffers=60 timestamp-offset=3000000000 ! video/x-raw,width=64,height=48,framerate=30/1 ! x264enc key-int-max=15 ! h264parse ! m."
                        .split(separator: " ").map(String.init))
                return path
            }
        }

        @Test(arguments: Film.allCases)
        func lateStreamIsWrittenCompletely(film: Film) async throws {
            try await withTemporaryDirectory { directory in
                let path = try await film.make(in: directory)
                let out = directory.file("out.mkv")
                let ended = try await GstBridge.run([
                    "record", "--report", "json", "--capture",
                    // No queues: the first audio arrives before the video pad exists.
                    "filesrc location=\(path) ! \(film.demuxer) name=d d. ! h264parse ! avdec_h264 ! "
                        + "videoconvert ! appsink name=video d. ! aacparse ! avdec_aac ! audioconvert "
                        + "! appsink name=audio",
                    out,
                ])
                #expect(ended.status == 0, "\(ended.errors)")
                #expect(try ended.report.captures["video"]?.frames == 60)
                #expect(try ended.report.captures["audio"]?.frames ?? 0 > 250)
                let probe = try await Tool.check(
                    "ffprobe",
                    [
                        "-v", "error", "-count_packets", "-select_streams", "v", "-show_entries",
                        "stream=nb_read_packets", "-of", "csv=p=0", out,
                    ])
                #expect(probe.contains("60"), "\(probe)")
            }
        }

        @Test func encodedStreamsOfALateDemuxerAreWrittenCompletely() async throws {
            try await withTemporaryDirectory { directory in
                let path = try await Film.flvmux.make(in: directory)
                let ended = try await GstBridge.run(
                    capture: "filesrc location=\(path) ! flvdemux name=d d.video ! h264parse ! "
                        + "appsink name=video d.audio ! aacparse ! appsink name=audio",
                    outputs: [
                        "only=appsrc name=video ! fakesink",
                        "sound=appsrc name=audio ! fakesink",
                    ])
                #expect(ended.status == 0, "\(ended.errors)")
                #expect(try ended.report.outputs["only"]?.frames == 60)
                #expect(try ended.report.captures["audio"]?.frames ?? 0 > 250)
            }
        }

        @Test(
            arguments: [
                ("vorbisdec ! audioconvert ! appsink name=audio", "audio", "video/x-h264"),
                ("text/x-raw ! appsink name=text", "text", "audio/x-opus"),
                ("queue ! vp8dec ! appsink name=late", "late", "video/x-h264"),
            ])
        func decoderOfAMissingStreamFailsTheRun(
            branch: String, stream: String, type: String
        ) async throws {
            try await withTemporaryDirectory { directory in
                let film = try await Clip().make(at: directory.file("film.mkv"))
                let ended = try await GstBridge.run(
                    capture: "filesrc location=\(film) ! matroskademux name=d d. ! h264parse ! "
                        + "appsink name=video d. ! \(branch)",
                    outputs: ["appsrc name=video ! fakesink"])
                #expect(ended.status == 1)
                // The error states the stream, the reason, and the stream that exists instead.
                #expect(ended.errors.contains("the stream \"\(stream)\" never appeared"))
                #expect(ended.errors.contains("failed delayed linking"), "\(ended.errors)")
                #expect(ended.errors.contains(type), "\(ended.errors)")
                // The other streams are complete.
                let report = try ended.report
                #expect(report.ended == "error")
                #expect(report.captures["video"]?.frames == 60)
                #expect(report.captures[stream]?.frames == 0)
            }
        }

        @Test func missingOnlyStreamIsOneFailure() async throws {
            try await withTemporaryDirectory { directory in
                let film = try await Clip().make(at: directory.file("film.mkv"))
                let ended = try await GstBridge.run(
                    capture: "filesrc location=\(film) ! matroskademux ! vp8dec", outputs: [])
                #expect(ended.status == 1)
                #expect(ended.errors.contains("failed delayed linking"), "\(ended.errors)")
                expectOneParagraph(ended)
            }
        }

        @Test(arguments: ["decodebin", "decodebin3"])
        func namingAMissingAudioStreamFailsTheRun(decoder: String) async throws {
            try await withTemporaryDirectory { directory in
                var clip = Clip()
                clip.hasAudio = false
                let film = try await clip.make(at: directory.file("film.mkv"))
                let ended = try await GstBridge.run(
                    capture: "filesrc location=\(film) ! \(decoder) name=d d. ! videoconvert ! "
                        + "appsink name=video d. ! audioconvert ! appsink name=audio",
                    outputs: ["appsrc name=video ! fakesink appsrc name=audio ! fakesink"])
                #expect(ended.status == 1)
                #expect(
                    ended.errors.contains("the stream \"audio\" never appeared"), "\(ended.errors)")
                #expect(try ended.report.captures["video"]?.frames == 60)
            }
        }

        /// A question mark marks a stream that may be missing.
        @Test(arguments: [
            ["video=videotestsrc num-buffers=30", "audio?=filesrc location=/nowhere ! wavparse"],
            [
                "videotestsrc num-buffers=30 ! appsink name=video audiotestsrc num-buffers=0 ! appsink name=audio?"
            ],
            [
                "filesrc location=FILM ! decodebin name=d d. ! appsink name=video d. ! audioconvert ! appsink name=audio?"
            ],
        ])
        func recordsWithoutAnOptionalStream(captures: [String]) async throws {
            try await withTemporaryDirectory { directory in
                var clip = Clip()
                (clip.hasAudio, clip.frames) = (false, 30)
                let film = try await clip.make(at: directory.file("film.mkv"))
                let out = directory.file("out.mkv")
                let ended = try await GstBridge.run(
                    ["record", "--report", "json", out]
                        + captures.flatMap {
                            ["--capture", $0.replacingOccurrences(of: "FILM", with: film)]
                        })
                #expect(ended.status == 0, "\(ended.errors)")
                #expect(ended.errors.contains("warning"), "\(ended.errors)")
                #expect(try ended.report.captures["video"]?.frames == 30)
                #expect(try ended.report.captures["audio"]?.frames == 0)
                // Without the mark, the run fails.
                let strict = try await GstBridge.run(
                    ["record", "--overwrite", out]
                        + captures.flatMap {
                            [
                                "--capture",
                                $0.replacing("?", with: "").replacing("FILM", with: film),
                            ]
                        })
                #expect(strict.status == 1)
            }
        }

        @Test func aStreamThatEndsWithoutAFrameFailsTheRun() async throws {
            let ended = try await GstBridge.run(
                capture: "videotestsrc num-buffers=9 ! appsink name=video "
                    + "audiotestsrc num-buffers=0 ! appsink name=audio",
                outputs: [])
            #expect(ended.status == 1)
            #expect(
                ended.errors.contains("the stream \"audio\" ended without a single frame"),
                "\(ended.errors)")
            expectOneParagraph(ended)
        }

        @Test func streamCutByALimitBeforeItsStartIsNotAFailure() async throws {
            try await withTemporaryDirectory { directory in
                let path = try await Film.matroskamux.make(in: directory)
                let ended = try await GstBridge.run(
                    capture: "filesrc location=\(path) ! matroskademux name=d d. ! queue ! "
                        + "h264parse ! appsink name=video d. ! queue ! identity sync=true ! "
                        + "aacparse ! avdec_aac ! audioconvert ! appsink name=audio",
                    outputs: ["appsrc name=audio ! fakesink"], ["--duration", "500ms"])
                #expect(ended.status == 0, "\(ended.errors)")
                #expect(try ended.report.ended == "duration")
            }
        }

        /// The valve never opens: the source runs, and no sample of the stream arrives.
        @Test(
            arguments: [
                ("mkv", true, "audio"), ("mp4", true, "video"), ("webm", true, "audio"),
                ("ts", true, "audio"), ("mkv", false, "audio"), ("mp4", false, "video"),
            ])
        func failsWhenAStreamHasNotBegunAtALimit(
            container: String, isLive: Bool, missing: String
        ) async throws {
            try await withTemporaryDirectory { directory in
                func stream(_ name: String, _ source: String) -> String {
                    "\(source) is-live=\(isLive) num-buffers=400 ! "
                        + "\(missing == name ? "valve drop=true ! " : "")appsink name=\(name) "
                }
                let path = directory.file("out.\(container)")
                let ended = try await GstBridge.run([
                    "record", "--report", "json", "--duration", "2500ms", "--capture",
                    stream("video", "videotestsrc") + stream("audio", "audiotestsrc"), path,
                ])
                #expect(ended.status == 1, "\(ended.errors)")
                #expect(
                    ended.errors.contains("the stream \"\(missing)\" delivered nothing"),
                    "\(ended.errors)")
                let duration = try #require(try await MediaProbe(of: path).duration)
                // A busy machine loses frames of a live capture.
                #expect(isLive ? duration > 0 : abs(duration - 2.5) < 0.1)
            }
        }

        @Test(arguments: ["matroskamux", "avimux"])
        func unusedStreamDoesNotTruncateTheFile(muxer: String) async throws {
            try await withTemporaryDirectory { directory in
                let path = directory.file("film")
                try await Tool.check(
                    "gst-launch-1.0",
                    "-q audiotestsrc num-buffers=430 ! audio/x-raw,rate=44100 ! avenc_aac ! aacparse ! queue ! \(muxer) name=m ! filesink location=\(path) videotestsrc num-buffers=60 ! video/x-raw,width=64,height=48,framerate=30/1 ! x264enc ! h264parse ! queue ! m."
                        .split(separator: " ").map(String.init))
                let demuxer = muxer == "avimux" ? "avidemux" : "matroskademux"
                let ended = try await GstBridge.run(
                    capture: "filesrc location=\(path) ! \(demuxer) name=d d. ! h264parse ! "
                        + "avdec_h264 ! videoconvert",
                    outputs: ["fakesink"])
                #expect(ended.status == 0, "\(ended.errors)")
                #expect(try ended.report.capture.frames == 60)
            }
        }
    }
}
