package scaling

import (
	"errors"
	"net"
	"net/netip"
	"syscall"
)

// errNotHere is about an address that is never connected to.
var errNotHere = errors.New("loopback, link-local, multicast and unspecified addresses are refused, and those of cloud metadata services")

// metadata are addresses outside of link-local ones at which a cloud tells its machines' secrets: those of AWS and Google by IPv6,
// Azure's, Alibaba's and Oracle's. The others are at 169.254.169.254.
var metadata = []netip.Prefix{
	netip.MustParsePrefix("fd00:ec2::/32"),
	netip.MustParsePrefix("fd20:ce::254/128"),
	netip.MustParsePrefix("168.63.129.16/32"),
	netip.MustParsePrefix("100.100.100.200/32"),
	netip.MustParsePrefix("192.0.0.192/32"),
}

// translated are IPv6 addresses that are ways to an IPv4 address (RFC 6052, RFC 8215), and where in them that is.
var translated = []struct {
	within netip.Prefix
	at     int
}{
	{netip.MustParsePrefix("64:ff9b::/96"), 12},
	{netip.MustParsePrefix("64:ff9b:1::/48"), 12}, // as a prefix of 96 bits
	{netip.MustParsePrefix("2002::/16"), 2},       // 6to4, RFC 3056
}

// localNAT64 is for translators whose prefix has 48 bits as well as 96 (RFC 6052, section 2.2).
var localNAT64 = netip.MustParsePrefix("64:ff9b:1::/48")

// onlyTo returns what refuses addresses that a source can't be at. It is asked with the address that a name was resolved to, just
// before the connection is made.
func onlyTo(loopback bool) func(network, address string, _ syscall.RawConn) error {
	return func(_, address string, _ syscall.RawConn) error {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return err
		}
		ip, err := netip.ParseAddr(host)
		if err != nil || !isOpen(ip, loopback) {
			return errNotHere
		}
		return nil
	}
}

func isOpen(ip netip.Addr, loopback bool) bool {
	ip = ip.WithZone("").Unmap()
	if ip.IsLoopback() {
		return loopback
	}
	if ip.IsLinkLocalUnicast() || ip.IsMulticast() || ip.IsUnspecified() {
		return false
	}
	for _, m := range metadata {
		if m.Contains(ip) {
			return false
		}
	}
	all := ip.As16()
	for _, t := range translated {
		if t.within.Contains(ip) && !isOpen(netip.AddrFrom4([4]byte(all[t.at:t.at+4])), false) {
			return false
		}
	}
	if localNAT64.Contains(ip) {
		behind48 := netip.AddrFrom4([4]byte{all[6], all[7], all[9], all[10]}) // byte 8 is a gap
		return behind48.IsUnspecified() || isOpen(behind48, false)
	}
	return true
}
