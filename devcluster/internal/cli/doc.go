// Package cli is the command line: up, down, status, delete and kubectl.
package cli
