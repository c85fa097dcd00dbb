# Sourced by the guest and its cases. Rail I is the device rxeI on one end of a veth pair, with the
# address 10.77.I.1 and frames that let a path carry 4096 bytes at a time. Both sides of a rail may
# use the same device: what a device sends to itself never leaves it.

make_rails() {
  local i
  for i in 0 1; do
    ip link add "ve$i" mtu 9000 type veth peer name "vp$i" mtu 9000 &&
      ip address add "10.77.$i.1/24" dev "ve$i" &&
      ip link set "vp$i" up &&
      ip link set "ve$i" up &&
      rdma link add "rxe$i" type rxe netdev "ve$i" || return
  done
}

# Whatever a case that died has left down.
mend_rails() {
  local name
  for name in lo ve0 ve1; do ip link set "$name" up; done
}
