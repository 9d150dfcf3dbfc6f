package build

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"strings"
	"sync"
)

// Digest returns the digest of the executable and of arguments, because a changed flag can change all plans as well.
func Digest(args []string) (string, error) { return digest(Executable, args) }

func digest(executable func() (string, error), args []string) (string, error) {
	content, err := executable()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(content + "\x00" + strings.Join(args, "\x00")))
	return hex.EncodeToString(sum[:]), nil
}

// Executable returns the SHA-256 of the executable's content in hexadecimal digits. It reads the file once.
func Executable() (string, error) { return ofExecutable() }

var ofExecutable = sync.OnceValues(func() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	return ofFile(path)
})

func ofFile(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}
