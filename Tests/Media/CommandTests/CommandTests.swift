/// `gst-bridge` as its users run it: exit status, output and files.
enum CommandTests {}
