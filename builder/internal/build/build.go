// Package build identifies the build of the running program.
package build

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
)

// Digest returns the digest of the executable and of its arguments, because a changed flag can change all plans as well.
func Digest() (string, error) {
	executable, err := executableDigest()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(executable + "\x00" + strings.Join(os.Args[1:], "\x00")))
	return hex.EncodeToString(sum[:]), nil
}

// executableDigest returns the digest of the executable's content.
var executableDigest = sync.OnceValues(func() (digest string, err error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
})
