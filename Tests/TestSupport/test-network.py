#!/usr/bin/python3
"""Two machines and the cable between them: unshare -rn test-network.py ADDRESS ADDRESS

Each machine is a network namespace with a loopback interface and v0, the end of the cable, with the
address, a /24 prefix and a default route to the other machine. Prints "ready PID PID", a process in each
namespace. At the end of standard input, which also comes when the caller dies, every process in the two
namespaces is killed.
"""
import ctypes
import os
import signal
import subprocess
import sys
import time

CLONE_NEWNET = 0x40000000


def second_namespace():
    """A child in a network namespace of its own, which waits until it is killed."""
    made, tell = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(made)
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.unshare(CLONE_NEWNET) != 0:
            os._exit(1)
        os.write(tell, b".")
        os.close(tell)
        while True:
            signal.pause()
    os.close(tell)
    if not os.read(made, 1):
        sys.exit("no second network namespace")
    return child


def set_up(address, other, process):
    """Gives one machine its address. Without IPv6 no address has to be checked for duplicates first."""
    # /proc/sys/net shows the namespace of the process that opens the file.
    script = f"""
    ip link set lo up
    echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6 || true
    echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6 || true
    ip address add {address}/24 dev v0
    ip link set v0 up
    ip route add default via {other}
    # Nobody answers for names: at once, and not after seconds.
    nft 'add table inet names; add chain inet names leaving {{ type filter hook output priority 0; }}
         add rule inet names leaving udp dport 53 reject' || true
    """
    subprocess.run(inside(process, ["sh", "-ec", script]), check=True)


def wait_until_up(process):
    """Waits until the cable carries: a browser that starts before that never finds it."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        command = ["ip", "link", "show", "v0"]
        shown = subprocess.run(inside(process, command), check=True, stdout=subprocess.PIPE)
        if b"state UP" in shown.stdout:
            return
        time.sleep(0.005)
    sys.exit("the cable does not carry")


def inside(process, command):
    return ["nsenter", "-t", str(process), "-n", "--"] + command if process else command


def kill_all(namespaces, spared):
    """Kills whoever is in one of the namespaces, and what they start meanwhile."""
    for _ in range(200):
        found = False
        for entry in os.listdir("/proc"):
            if not entry.isdigit() or int(entry) in spared:
                continue
            try:
                if os.stat(f"/proc/{entry}/ns/net").st_ino not in namespaces:
                    continue
                os.kill(int(entry), signal.SIGKILL)
                found = True
            except OSError:
                continue  # It is over, or not ours.
        if not found:
            return
        time.sleep(0.005)


def main():
    first, second = sys.argv[1:]
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    child = second_namespace()
    namespaces = {os.stat(f"/proc/{pid}/ns/net").st_ino for pid in (os.getpid(), child)}
    try:
        subprocess.run(
            # An index that the other end does not use: only then does the kernel report the carrier
            # at once.
            ["ip", "link", "add", "v0", "index", "7", "type", "veth", "peer", "name", "v0", "netns", str(child)],
            check=True)
        set_up(first, second, None)
        set_up(second, first, child)
        for process in (None, child):
            wait_until_up(process)
        print(f"ready {os.getpid()} {child}", flush=True)
        sys.stdin.buffer.read()
    finally:
        kill_all(namespaces, {os.getpid()})


signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
main()
