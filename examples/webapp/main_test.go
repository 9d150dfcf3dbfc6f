package main

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/require"
)

// A mistyped command doesn't start the operator.
func TestUnexpectedArguments(t *testing.T) {
	t.Setenv("KUBECONFIG", t.TempDir()+"/none")
	require.NoError(t, flag.CommandLine.Parse([]string{"serv"}))
	require.EqualError(t, operate(t.Context()), `unexpected argument "serv"`)
}
