// Package cli is the command line: up, down, status, delete, kubectl, exec and load.
package cli
