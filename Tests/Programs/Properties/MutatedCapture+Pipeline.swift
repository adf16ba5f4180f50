import Foundation
import MediaBridge

extension MutatedCapture {
    /// The capture as a gst-launch string: a sequence of sources.
    var captureText: String {
        var text = "concat name=v ! appsink name=video" + pictureSources
        if hasSound { text += " concat name=a ! appsink name=audio" + soundSources }
        return text
    }

    /// An encoding output, as a user of `gst-bridge run` writes it.
    func outputText(to path: String) -> String {
        let picture =
            container == "webm"
            ? "vp8enc deadline=1 cpu-used=8"
            : "x264enc tune=zerolatency speed-preset=ultrafast key-int-max=25"
        let muxer = [
            "mkv": "matroskamux", "webm": "webmmux", "mp4": "mp4mux", "ts": "mpegtsmux",
        ][container, default: "matroskamux"]
        let sound = container == "mkv" || container == "webm" ? "opusenc" : "avenc_aac"
        let parser = container == "webm" ? "" : "h264parse ! "
        let end = "\(muxer) name=mux ! filesink location=\(path)"
        let pictures = "appsrc name=video ! videoconvert ! \(picture) ! \(parser)mux."
        guard hasSound else { return "\(end) \(pictures)" }
        return "\(end) \(pictures) appsrc name=audio ! audioconvert ! audioresample ! \(sound) "
            + "! mux."
    }

    private static func nanoseconds(_ seconds: Double) -> Int64 { Int64((seconds * 1e9).rounded()) }

    private var pictureSources: String {
        var text = ""
        let offered = offeredPictures
        var end = 0.0
        var place = 0
        while place < offered.count {
            let first = offered[place]
            let start = first.time ?? end
            let offset = Self.nanoseconds(start - end)
            end = start
            var count = 0
            while place < offered.count, offered[place].form == first.form,
                abs((offered[place].time ?? end) - end) < 1e-6
            {
                end += first.form.interval
                count += 1
                place += 1
            }
            let form = first.form
            let grey = min(255, (Int(first.luma) - 16) * 255 / 219)
            // A zero rate, or one that only gives a time base, changes only the caps: the frames
            // keep their pace.
            let real = (1...1000).contains(form.rate.value) ? "\(form.rate)" : "25/1"
            text +=
                " videotestsrc pattern=solid-color foreground-color="
                + String(format: "0xff%02x%02x%02x", grey, grey, grey)
                + " num-buffers=\(count) timestamp-offset=\(offset) ! video/x-raw,"
                + "format=\(form.format),width=\(form.width),height=\(form.height),"
                + "framerate=\(real),pixel-aspect-ratio=\(form.ratio)"
            var said = real == "\(form.rate)" ? [] : ["framerate=(fraction)\(form.rate)"]
            said += form.colorimetry.map { ["colorimetry=(string)\($0)"] } ?? []
            said += form.chromaSite.map { ["chroma-site=(string)\($0)"] } ?? []
            said += form.interlacing.map { ["interlace-mode=(string)\($0)"] } ?? []
            if !said.isEmpty {
                text += " ! capssetter caps=\"video/x-raw,\(said.joined(separator: ","))\""
            }
            text += " ! v."
        }
        return text
    }

    private var soundSources: String {
        var text = ""
        let offered = offeredSound
        var end = 0.0
        var place = 0
        while place < offered.count {
            let first = offered[place]
            let start = first.time ?? end
            let offset = Self.nanoseconds(start - end)
            end = start
            var count = 0
            while place < offered.count, offered[place].format == first.format,
                offered[place].samples == first.samples,
                abs((offered[place].time ?? end) - end) < 1e-6
            {
                end += first.length
                count += 1
                place += 1
            }
            text +=
                " audiotestsrc num-buffers=\(count) samplesperbuffer=\(first.samples)"
                + " timestamp-offset=\(offset) ! audio/x-raw,format=\(first.format.sampleFormat),"
                + "rate=\(first.format.sampleRate),channels=\(first.format.channels),"
                + "layout=interleaved ! a."
        }
        return text
    }
}
