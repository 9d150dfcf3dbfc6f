package containernode

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"

	"github.com/vishvananda/netlink"
)

const (
	// bridgeName is the bridge in the cluster's network namespace, to which all nodes are connected.
	bridgeName = "nodes"
	// nodeLink is the node's end of its link, in the node's own network namespace.
	nodeLink = "eth0"
)

// PrepareNetwork makes the bridge in this process's network namespace, and the routes to the pods of so many nodes.
func PrepareNetwork(nodes int) error {
	if err := linkUp("lo"); err != nil {
		return err
	}
	bridge := &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: bridgeName}}
	if err := netlink.LinkAdd(bridge); err != nil && !errors.Is(err, syscall.EEXIST) {
		return fmt.Errorf("make a bridge: %w", err)
	}
	if err := addAddress(bridgeName, gatewayCIDR); err != nil {
		return err
	}
	if err := linkUp(bridgeName); err != nil {
		return err
	}
	if err := forwardPackets(); err != nil {
		return err
	}
	for number := 1; number <= nodes; number++ {
		if err := addRoute(podCIDR(number), Address(number)); err != nil {
			return err
		}
	}
	return nil
}

// connect links the bridge to the network namespace of the process that has this PID.
func connect(number, pid int) error {
	// A node that was killed a moment ago may have left its link, until the kernel has buried the namespace.
	if old, err := netlink.LinkByName(hostLink(number)); err == nil {
		_ = netlink.LinkDel(old)
	}
	bridge, err := netlink.LinkByName(bridgeName)
	if err != nil {
		return fmt.Errorf("find the bridge: %w", err)
	}
	link := &netlink.Veth{
		LinkAttrs:     netlink.LinkAttrs{Name: hostLink(number), MasterIndex: bridge.Attrs().Index},
		PeerName:      nodeLink,
		PeerNamespace: netlink.NsPid(pid),
	}
	if err := netlink.LinkAdd(link); err != nil {
		return fmt.Errorf("make the link of a node: %w", err)
	}
	return linkUp(hostLink(number))
}

// configureNetwork gives the node, in whose network namespace this process is, its address and its routes: to the
// pods of the other nodes directly, to all else by the control plane, which knows no route out.
func (c Config) configureNetwork() error {
	if err := linkUp("lo"); err != nil {
		return err
	}
	if err := addAddress(nodeLink, Address(c.Number)+"/24"); err != nil {
		return err
	}
	if err := linkUp(nodeLink); err != nil {
		return err
	}
	if err := forwardPackets(); err != nil {
		return err
	}
	for number := 1; number <= c.Nodes; number++ {
		if number == c.Number {
			continue
		}
		if err := addRoute(podCIDR(number), Address(number)); err != nil {
			return err
		}
	}
	return addRoute("0.0.0.0/0", Gateway)
}

func linkUp(name string) error {
	link, err := netlink.LinkByName(name)
	if err == nil {
		err = netlink.LinkSetUp(link)
	}
	if err != nil {
		return fmt.Errorf("link %s: set up: %w", name, err)
	}
	return nil
}

func addAddress(name, cidr string) error {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return fmt.Errorf("link %s: %w", name, err)
	}
	address, err := netlink.ParseAddr(cidr)
	if err != nil {
		return err
	}
	if err := netlink.AddrReplace(link, address); err != nil {
		return fmt.Errorf("link %s: add address %s: %w", name, cidr, err)
	}
	return nil
}

func addRoute(cidr, via string) error {
	_, destination, err := net.ParseCIDR(cidr)
	if err != nil {
		return err
	}
	if err := netlink.RouteReplace(&netlink.Route{Dst: destination, Gw: net.ParseIP(via)}); err != nil {
		return fmt.Errorf("add route to %s by %s: %w", cidr, via, err)
	}
	return nil
}

// forwardPackets is a setting of the network namespace.
func forwardPackets() error {
	return os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0o644)
}
