package localnode

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

func TestAddresses(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("pods have addresses of their own on Linux only")
	}
	a, other := newAddresses("/dir", 0), newAddresses("/dir", 1)
	if a.node == other.node || a.node == 0 || other.node == 0 {
		t.Errorf("nodes have the ranges %d and %d", a.node, other.node)
	}
	seen := map[string]bool{}
	for range 1000 {
		ip, err := a.take("")
		if err != nil || seen[ip] || strings.HasPrefix(ip, "127.0.") {
			t.Fatalf("took %s, %v", ip, err)
		}
		seen[ip] = true
	}
	first := ""
	for ip := range seen {
		first = ip
		break
	}
	if again, _ := a.take(first); again == first {
		t.Error("an address in use was given again")
	}
	a.release(first)
	if next, _ := a.take(""); next == first {
		t.Error("an address was given again at once")
	}
	if again, _ := a.take(first); again != first {
		t.Errorf("wanted %s, got %s", first, again)
	}
	for _, foreign := range []string{"10.0.0.1", "::1", "127.0.0.1"} {
		if ip, _ := a.take(foreign); ip == foreign {
			t.Errorf("took %s, which is not the node's", foreign)
		}
	}
}

// The second byte has 254 values, so two clusters of one machine may share it.
func TestClustersWithOneRangeStartApart(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("pods have addresses of their own on Linux only")
	}
	a := newAddresses("/dir", 0)
	first, err := a.take("")
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; ; i++ {
		other := newAddresses(fmt.Sprintf("/dir-%d", i), 0)
		if other.node != a.node {
			continue
		}
		if ip, err := other.take(""); err != nil || ip == first {
			t.Errorf("the first address is %s, %v: another directory has it, too", ip, err)
		}
		return
	}
}
