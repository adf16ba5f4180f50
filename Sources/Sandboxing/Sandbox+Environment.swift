extension Sandbox {
    /// The environment variables that are passed into a sandbox, by their full names: a prefix
    /// would also match unrelated variables (`G_TOKEN`, `LANGCHAIN_API_KEY`).
    static let passed =
        gstreamer + glib + locale
        + [
            "TZ", "PATH", "HOME", "LD_LIBRARY_PATH", "XDG_CACHE_HOME", "TERM", "NO_COLOR",
            "COLUMNS",
            "ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS",
        ]

    private static let gstreamer = [
        "GST_DEBUG", "GST_DEBUG_COLOR_MODE", "GST_DEBUG_DUMP_DOT_DIR", "GST_DEBUG_FILE",
        "GST_DEBUG_NO_COLOR", "GST_DEBUG_OPTIONS", "GST_ENABLE_GNOME_DEBUG",
        "GST_PLUGIN_FEATURE_RANK",
        "GST_PLUGIN_LOADING_WHITELIST", "GST_PLUGIN_PATH", "GST_PLUGIN_PATH_1_0",
        "GST_PLUGIN_SCANNER", "GST_PLUGIN_SCANNER_1_0", "GST_PLUGIN_SYSTEM_PATH",
        "GST_PLUGIN_SYSTEM_PATH_1_0", "GST_PRESET_PATH", "GST_REGISTRY", "GST_REGISTRY_1_0",
        "GST_REGISTRY_MODE", "GST_TAG_ENCODING", "GST_AVI_TAG_ENCODING", "GST_ID3_TAG_ENCODING",
        "GST_ID3V1_TAG_ENCODING", "GST_QT_TAG_ENCODING", "GST_SUBTITLE_ENCODING", "GST_TRACERS",
        "ORC_BACKEND", "ORC_CODE", "ORC_DEBUG",
    ]

    private static let glib = [
        "G_DEBUG", "G_ENABLE_DIAGNOSTIC", "G_FILENAME_ENCODING", "G_MESSAGES_DEBUG",
        "G_RANDOM_VERSION", "G_SLICE",
    ]

    private static let locale = [
        "LANG", "LANGUAGE", "LC_ALL", "LC_ADDRESS", "LC_COLLATE", "LC_CTYPE", "LC_IDENTIFICATION",
        "LC_MEASUREMENT", "LC_MESSAGES", "LC_MONETARY", "LC_NAME", "LC_NUMERIC", "LC_PAPER",
        "LC_TELEPHONE", "LC_TIME",
    ]
}
