package minicluster

import (
	"crypto/ecdh"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"strings"
)

// NewCertificate makes a CURVE certificate, as flux keygen does: a new key pair of X25519, in Z85. The brokers of one
// cluster share it, and trust every client that has it. Each call returns a new one: NewCertificate is the only function
// of this package whose result doesn't depend on its arguments alone.
func NewCertificate(name string) []byte {
	secret := make([]byte, 32)
	//purity:ignore a cluster's Secret keeps the certificate of its first pass, and a replay doesn't compare it
	_, _ = rand.Read(secret) // never fails: it would end the program
	key, err := ecdh.X25519().NewPrivateKey(secret)
	if err != nil {
		panic(err) // not with 32 bytes
	}
	return certificate(name, key.PublicKey().Bytes(), secret)
}

// certificate writes a key pair in the format of Flux, which accepts no underscore in the name.
func certificate(name string, public, secret []byte) []byte {
	return fmt.Appendf(nil, "metadata\n    name = \"%s\"\ncurve\n    public-key = \"%s\"\n    secret-key = \"%s\"\n",
		strings.ReplaceAll(name, "_", "-"), z85(public), z85(secret))
}

const z85Digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"

// z85 encodes bytes, whose number must be divisible by 4, as ZeroMQ writes keys (its RFC 32): each 4 bytes, as a
// number, in 5 digits to the base of 85.
func z85(data []byte) string {
	var b strings.Builder
	for ; len(data) >= 4; data = data[4:] {
		n := binary.BigEndian.Uint32(data)
		for divisor := uint32(85 * 85 * 85 * 85); divisor > 0; divisor /= 85 {
			b.WriteByte(z85Digits[n/divisor%85])
		}
	}
	return b.String()
}
