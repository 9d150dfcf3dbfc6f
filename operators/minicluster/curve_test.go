package minicluster

import (
	"bytes"
	"crypto/ecdh"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestZ85(t *testing.T) {
	// The test cases of ZeroMQ's RFC 32.
	assert.Equal(t, "HelloWorld", z85([]byte{0x86, 0x4F, 0xD2, 0x6F, 0xB5, 0x59, 0xF7, 0x5B}))
	key := []byte{
		0x8E, 0x0B, 0xDD, 0x69, 0x76, 0x28, 0xB9, 0x1D, 0x8F, 0x24, 0x55, 0x87, 0xEE, 0x95, 0xC5, 0xB0,
		0x4D, 0x48, 0x96, 0x3F, 0x79, 0x25, 0x98, 0x77, 0xB4, 0x9C, 0xD9, 0x06, 0x3A, 0xEA, 0xD3, 0xB7,
	}
	assert.Equal(t, "JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6", z85(key))
}

func TestCertificate(t *testing.T) {
	format := regexp.MustCompile(`^metadata\n    name = "demo"\ncurve\n    public-key = "(.{40})"\n    secret-key = "(.{40})"\n$`)
	first, second := NewCertificate("demo"), NewCertificate("demo")
	assert.NotEqual(t, first, second)
	for _, text := range [][]byte{first, second} {
		keys := format.FindSubmatch(text)
		require.NotNil(t, keys, string(text))
		public, secret := unZ85(string(keys[1])), unZ85(string(keys[2]))
		key, err := ecdh.X25519().NewPrivateKey(secret)
		require.NoError(t, err)
		assert.True(t, bytes.Equal(public, key.PublicKey().Bytes()), "the public key is that of the secret one")
	}
	assert.Contains(t, string(NewCertificate("a_b")), `name = "a-b"`, "Flux accepts no underscore")
}

// unZ85 decodes what z85 encodes.
func unZ85(text string) []byte {
	var data []byte
	for ; len(text) >= 5; text = text[5:] {
		var n uint32
		for _, digit := range text[:5] {
			n = n*85 + uint32(strings.IndexRune(z85Digits, digit))
		}
		data = append(data, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
	}
	return data
}
