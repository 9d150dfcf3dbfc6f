//go:build !linux

package process

import "os"

func executable() (string, error) { return os.Executable() }
