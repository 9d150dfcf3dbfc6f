// Package allreduce is a distributed program, as a TorchJob runs it: each rank has a number, and all agree on the sum.
// It has nothing to do with operators.
package allreduce

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"

	"github.com/armature-dev/armature/examples/internal/peers"
)

// Run runs this rank and prints the sum. Rank 0 waits for all others; in an elastic job, until as many as there may be
// have joined.
func Run(ctx context.Context) error {
	rank, err := strconv.Atoi(os.Getenv("RANK"))
	if err != nil {
		return fmt.Errorf("RANK: %w", err)
	}
	size := os.Getenv("WORLD_SIZE")
	if _, most, elastic := strings.Cut(os.Getenv("PET_NNODES"), ":"); elastic {
		size = most
	}
	n, err := strconv.Atoi(size)
	if err != nil {
		return fmt.Errorf("WORLD_SIZE: %w", err)
	}
	mine, sum := rank+1, 0
	if rank == 0 {
		sum, err = collect(ctx, os.Getenv("MASTER_PORT"), n-1, mine)
	} else {
		sum, err = contribute(ctx, net.JoinHostPort(os.Getenv("MASTER_ADDR"), os.Getenv("MASTER_PORT")), mine)
	}
	if err != nil {
		return fmt.Errorf("rank %d: %w", rank, err)
	}
	fmt.Printf("rank %d of %d: the sum is %d\n", rank, n, sum)
	return nil
}

// collect takes a number from so many others, and tells each of them the sum.
func collect(ctx context.Context, port string, others, sum int) (int, error) {
	listener, err := peers.Listen(ctx, port)
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	stop := context.AfterFunc(ctx, func() { listener.Close() })
	defer stop()
	var conns []net.Conn
	for len(conns) < others {
		conn, err := listener.Accept()
		if err != nil {
			return 0, err
		}
		number, err := read(conn)
		if err != nil { // it went away again
			conn.Close()
			continue
		}
		conns = append(conns, conn)
		sum += number
		fmt.Printf("%d of %d ranks are here\n", len(conns)+1, others+1)
	}
	for _, conn := range conns {
		if _, err := fmt.Fprintln(conn, sum); err != nil {
			return 0, err
		}
		conn.Close()
	}
	return sum, nil
}

// contribute gives rank 0 a number, and waits for the sum.
func contribute(ctx context.Context, master string, number int) (int, error) {
	conn, err := peers.Dial(ctx, master)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	if _, err := fmt.Fprintln(conn, number); err != nil {
		return 0, err
	}
	return read(conn)
}

func read(r io.Reader) (int, error) {
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(line))
}
