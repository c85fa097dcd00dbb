"""The guest's first file system: busybox, an init, and the modules that it loads."""

import hashlib
import lzma
import pathlib
import subprocess
import tempfile

# In this order, each with what it depends on. Without crc32_generic the kernel has no software RDMA
# device to add: "No such file or directory".
MODULES = ("crc32_generic crc32c_generic virtio_pci virtio_mmio 9p 9pnet_virtio overlay veth "
           "ib_uverbs rdma_ucm rdma_rxe virtio_net").split()
BUSYBOX = pathlib.Path("/bin/busybox")


def module_files(release):
    files = []
    for module in MODULES:
        told = subprocess.run(["modprobe", "-S", release, "-d", "/", "--show-depends", module],
                              check=True, capture_output=True, text=True)
        for line in told.stdout.splitlines():
            words = line.split()
            if words[0] == "insmod" and words[1] not in files:
                files.append(words[1])
    return [pathlib.Path(name) for name in files]


def make(release, init, folder):
    """The path of an initramfs for this kernel and init, made once for both."""
    digest = hashlib.sha256(init.read_bytes() + " ".join(MODULES).encode()).hexdigest()[:16]
    image = folder / f"initramfs-{release}-{digest}.gz"
    if not image.exists():
        _pack(release, init, image)
    return image


def _pack(release, init, image):
    with tempfile.TemporaryDirectory() as name:
        tree = pathlib.Path(name)
        (tree / "bin").mkdir()
        (tree / "modules").mkdir()
        (tree / "bin/busybox").write_bytes(BUSYBOX.read_bytes())
        (tree / "init").write_bytes(init.read_bytes())
        order = []
        for file in module_files(release):
            # busybox reads no xz.
            packed = file.read_bytes()
            plain = lzma.decompress(packed) if file.suffix == ".xz" else packed
            order.append(file.name.removesuffix(".xz"))
            (tree / "modules" / order[-1]).write_bytes(plain)
        (tree / "modules/order").write_text("\n".join(order) + "\n")
        for program in ("bin/busybox", "init"):
            (tree / program).chmod(0o755)
        # Written beside and renamed: a run that was interrupted leaves no half of an image.
        half = image.with_suffix(".half")
        pack = f"find . | cpio --quiet -o -H newc -R 0:0 | gzip -1 >'{half}'"
        subprocess.run(["bash", "-o", "pipefail", "-c", pack], cwd=tree, check=True)
        half.rename(image)
