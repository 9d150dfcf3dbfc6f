package localnode

import (
	"fmt"
	"hash/fnv"
	"net/netip"
	"runtime"
	"sync"
)

// nodeIP is the address of every node, and of pods on the host's network.
const nodeIP = "127.0.0.1"

// addresses gives the pods of a node addresses. On Linux all of 127.0.0.0/8 is
// local without any configuration, so every pod has one of 127.<node>.0.0/16 for
// itself. The second byte and the first address come from a hash of the directory, to
// keep clusters on one machine apart. Elsewhere only 127.0.0.1 is local, and all pods share it.
type addresses struct {
	node byte // 1 to 254: never 0, where 127.0.0.1 is

	mu   sync.Mutex
	used map[netip.Addr]bool
	next uint16
}

func newAddresses(dir string, index int) *addresses {
	h := fnv.New32a()
	h.Write([]byte(dir))
	return &addresses{
		node: byte(1 + (uint64(h.Sum32())+uint64(index))%254),
		used: map[netip.Addr]bool{},
		next: uint16(h.Sum32() >> 16),
	}
}

// take returns an address that no pod has: the wanted one, which a pod had before
// its node was started again, if it is free. Addresses are given in turn, so one
// that became free is not used again soon.
func (a *addresses) take(want string) (string, error) {
	if runtime.GOOS != "linux" {
		return nodeIP, nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if addr, err := netip.ParseAddr(want); err == nil && a.contains(addr) && !a.used[addr] {
		a.used[addr] = true
		return want, nil
	}
	for range 1 << 16 {
		a.next++
		low := byte(a.next)
		if low == 0 || low == 255 {
			continue
		}
		addr := netip.AddrFrom4([4]byte{127, a.node, byte(a.next >> 8), low})
		if !a.used[addr] {
			a.used[addr] = true
			return addr.String(), nil
		}
	}
	return "", fmt.Errorf("all addresses of 127.%d.0.0/16 are in use", a.node)
}

func (a *addresses) contains(addr netip.Addr) bool {
	if !addr.Is4() {
		return false
	}
	b := addr.As4()
	return b[0] == 127 && b[1] == a.node
}

func (a *addresses) release(ip string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if addr, err := netip.ParseAddr(ip); err == nil {
		delete(a.used, addr)
	}
}
