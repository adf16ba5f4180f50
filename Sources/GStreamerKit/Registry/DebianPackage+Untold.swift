extension DebianPackage {
    /// Elements that packages contain but that their metadata does not list.
    static let untold: [Contents] = [
        Contents(
            package: "libgstreamer1.0-0",
            elements: """
                capsfilter clocksync concat dataurisrc downloadbuffer fakesink fakesrc fdsink fdsrc
                filesink filesrc funnel identity input-selector multiqueue output-selector queue
                queue2 streamiddemux tee typefind valve
                """),
        Contents(
            package: "gstreamer1.0-plugins-good",
            elements: "dashdemux2 hlsdemux2 mssdemux2 souphttpclientsink souphttpsrc"),
        Contents(package: "gstreamer1.0-libcamera", elements: "libcamerasrc"),
        Contents(package: "gstreamer1.0-rtsp", elements: "rtspclientsink"),
        Contents(package: "gstreamer1.0-espeak", elements: "espeak"),
        Contents(package: "gstreamer1.0-clutter-3.0", elements: "clutterautovideosink"),
        Contents(package: "libges-1.0-0", elements: "gesdemux gessrc"),
    ]
}
