//go:build !linux

package containernode

import (
	"context"
	"errors"
	"net"
	"os"
)

var errLinux = errors.New("--containers needs Linux: containers are made of its namespaces and cgroups")

// Check tells why this machine can't run so many such nodes.
func Check(string, int) error { return errLinux }

// Isolate is for Linux only, as are all of these.
func Isolate() error { return errLinux }

func Inside(int) bool { return false }

func Exec(int, string, []string, []string) error { return errLinux }

func Dialer(int) func(context.Context, string, string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) { return nil, errLinux }
}

func PrepareNetwork(int) error { return errLinux }

func RemoveCgroups(string) error { return nil }

func Run(context.Context, Config, []string, *os.File) error { return errLinux }

func RunInside(context.Context, Config) error { return errLinux }
