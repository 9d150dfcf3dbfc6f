// Package peers lets the ranks of the example programs reach each other. It has nothing to do with operators.
package peers

import (
	"bufio"
	"cmp"
	"context"
	"net"
	"os"
	"strings"
	"time"
)

const (
	// AddressEnv names the variable that has the address to listen on. Empty: all of them.
	AddressEnv = "ADDRESS"
	// HostsEnv names the variable that has the path of a file to look names up in before DNS is asked, in the format of
	// /etc/hosts. Empty: DNS only. A devcluster's local nodes have the pods' names in such a file, and no DNS.
	HostsEnv = "HOSTS_FILE"
)

// Listen listens on a port of this pod's.
func Listen(ctx context.Context, port string) (net.Listener, error) {
	var l net.ListenConfig
	return l.Listen(ctx, "tcp", net.JoinHostPort(os.Getenv(AddressEnv), port))
}

// Dial connects to host and port of a peer, and tries again until it is there or ctx ends.
func Dial(ctx context.Context, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	for {
		var d net.Dialer
		conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort(lookUp(host), port))
		if err == nil {
			return conn, nil
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// lookUp returns the address that the hosts file gives a name, or the name, for DNS to look up.
func lookUp(name string) string {
	file, err := os.Open(os.Getenv(HostsEnv))
	if err != nil {
		return name
	}
	defer file.Close()
	found := ""
	for lines := bufio.NewScanner(file); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		for i := 1; i < len(fields); i++ {
			if fields[i] == name {
				found = fields[0]
			}
		}
	}
	return cmp.Or(found, name)
}
