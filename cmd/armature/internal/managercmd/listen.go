package managercmd

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
)

// listening adds to an error of listening the flags that the address is from: several, if they name one port.
func (o options) listening(err error) error {
	var failed *net.OpError
	if !errors.As(err, &failed) || failed.Op != "listen" {
		return err
	}
	addresses := []struct{ flag, value, address string }{
		{"--metrics-bind-address", o.metricsAddress, o.metricsAddress},
		{"--health-probe-bind-address", o.healthAddress, o.healthAddress},
		{"--pprof-bind-address", o.pprofAddress, o.pprofAddress},
	}
	if o.recordBytes > 0 {
		addresses = append(addresses, struct{ flag, value, address string }{"--record-bind-address", o.recordAddress, o.recordAddress})
	}
	if o.webhook {
		port := strconv.Itoa(o.webhookPort)
		addresses = append(addresses, struct{ flag, value, address string }{"--webhook-port", port, ":" + port})
	}
	var flags []string
	for _, a := range addresses {
		if a.address != "0" && a.address != "" && isOf(failed, a.address) {
			flags = append(flags, a.flag+"="+a.value)
		}
	}
	if len(flags) == 0 {
		return err
	}
	return fmt.Errorf("%s: %w", strings.Join(flags, ", "), err)
}

// isOf reports whether an error is about an address. Without an address of its own, it has the text that it couldn't read.
func isOf(failed *net.OpError, address string) bool {
	if at, ok := failed.Addr.(*net.TCPAddr); ok {
		given, err := net.ResolveTCPAddr("tcp", address)
		return err == nil && given.Port == at.Port
	}
	host, port, err := net.SplitHostPort(address)
	text := failed.Error()
	return err != nil && strings.Contains(text, address) ||
		err == nil && (strings.Contains(text, " "+port+":") || host != "" && strings.Contains(text, host))
}
