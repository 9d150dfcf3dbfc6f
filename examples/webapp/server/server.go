// Package server is the web server of a WebApp. It has nothing to do with operators.
package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"
)

// Port is where servers listen.
const Port = 8080

const (
	// AddressEnv names the variable that has the address to listen on. Empty: all of them.
	AddressEnv = "ADDRESS"
	// GreetingEnv names the variable that has the path of the file with the greeting.
	GreetingEnv = "GREETING_FILE"
)

// Run serves until ctx ends. It reads the greeting anew for each request.
func Run(ctx context.Context) error {
	file := os.Getenv(GreetingEnv)
	s := &http.Server{
		Addr:              net.JoinHostPort(os.Getenv(AddressEnv), strconv.Itoa(Port)),
		ReadHeaderTimeout: time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			greeting, err := os.ReadFile(file)
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			fmt.Fprintf(w, "%s from %s\n", greeting, os.Getenv("HOSTNAME"))
		}),
	}
	stop := context.AfterFunc(ctx, func() { s.Close() })
	defer stop()
	if err := s.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
