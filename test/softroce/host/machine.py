"""The virtual machine: boots, is watched, and ends within a bounded time."""

import pathlib
import platform
import shutil
import subprocess
import time

import initramfs

# No line of the guest's for so long is silence. Longer than any case may take by itself.
SILENCE_SECONDS = 700
# All of it: many cases, each bounded by itself.
WHOLE_SECONDS = 2500
POLL_SECONDS = 0.2

KERNELS = "vmlinuz-6.12*-amd64"  # READs of older ones stall


def _kernel():
    kernels = sorted(pathlib.Path("/boot").glob(KERNELS))
    return kernels[-1] if kernels else None


def missing():
    """What a virtual machine lacks here, in a sentence; None: nothing."""
    if platform.machine() != "x86_64":
        return f"the recipe is for x86_64, this is {platform.machine()}"
    if not shutil.which("qemu-system-x86_64"):
        return "qemu-system-x86_64 is not installed"
    if not initramfs.BUSYBOX.exists():
        return f"{initramfs.BUSYBOX} is not installed"
    if _kernel() is None:
        return f"there is no /boot/{KERNELS}"
    return None


def _folder(root):
    folder = root / "build/softroce"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _command(root, cases):
    kernel = _kernel()
    release = kernel.name.removeprefix("vmlinuz-")
    folder = _folder(root)
    image = initramfs.make(release, root / "test/softroce/init", folder)
    # A busy host gives an emulated timer too few ticks for the kernel's check of it, which panics.
    options = ("console=ttyS0 quiet panic=-1 mitigations=off no_timer_check "
               f"softroce.repository={root} softroce.cases={','.join(cases)}")
    # Everything is emulated: that works on every host, and RDMA needs no more.
    return ["qemu-system-x86_64", "-accel", "tcg,thread=multi,tb-size=512", "-cpu", "max",
            "-m", "3G", "-smp", "2", "-display", "none", "-monitor", "none", "-no-reboot",
            "-nic", "none", "-serial", f"file:{folder / 'console.log'}",
            "-serial", f"file:{folder / 'results.log'}",
            "-kernel", str(kernel), "-initrd", str(image), "-append", options,
            "-virtfs", "local,path=/,mount_tag=host,security_model=none,readonly=on,"
            "multidevs=remap"]


def run(root, cases, results):
    """Runs the cases and feeds what the guest says to `results`; returns how the guest ended."""
    folder = _folder(root)
    log = folder / "results.log"
    for name in ("console.log", "results.log"):
        (folder / name).write_bytes(b"")
    guest = subprocess.Popen(_command(root, cases), stdin=subprocess.DEVNULL)
    began = heard = time.monotonic()
    rest = b""
    try:
        with log.open("rb") as stream:
            while True:
                exited = guest.poll() is not None
                more = stream.read()
                now = time.monotonic()
                if more:
                    heard = now
                    *lines, rest = (rest + more).split(b"\n")
                    for line in lines:
                        results.take(line.decode(errors="replace").rstrip("\r"))
                elif exited:
                    return "the guest has ended" if results.ended else "the guest died"
                elif now - heard > SILENCE_SECONDS:
                    return f"the guest said nothing for {SILENCE_SECONDS} s"
                elif now - began > WHOLE_SECONDS:
                    return f"the guest ran for more than {WHOLE_SECONDS} s"
                else:
                    time.sleep(POLL_SECONDS)
    finally:
        guest.kill()
        guest.wait()


def last_words(root):
    lines = (_folder(root) / "console.log").read_text(errors="replace").splitlines()
    return "\n".join(lines[-30:])
