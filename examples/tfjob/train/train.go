// Package train is a distributed program, as a TFJob runs it: workers add numbers up at the parameter servers, and the
// chief waits until all agree. It has nothing to do with operators.
package train

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/armature-dev/armature/examples/internal/peers"
)

// config is TF_CONFIG.
type config struct {
	Cluster map[string][]string
	Task    struct {
		Type  string
		Index int
	}
}

// Run runs this task.
func Run(ctx context.Context) error {
	var c config
	if err := json.Unmarshal([]byte(os.Getenv("TF_CONFIG")), &c); err != nil {
		return fmt.Errorf("TF_CONFIG: %w", err)
	}
	switch c.Task.Type {
	case "ps":
		return serve(ctx, c.Cluster["ps"][c.Task.Index])
	case "worker":
		return c.contribute(ctx, c.Task.Index+1)
	default: // the chief, and evaluators
		return c.await(ctx)
	}
}

// contribute adds a number at each parameter server.
func (c *config) contribute(ctx context.Context, number int) error {
	for _, server := range c.Cluster["ps"] {
		if _, _, err := ask(ctx, server, fmt.Sprint("add ", number)); err != nil {
			return err
		}
	}
	fmt.Printf("worker %d of %d: added %d at %d parameter servers\n", c.Task.Index, len(c.Cluster["worker"]), number, len(c.Cluster["ps"]))
	return nil
}

// await waits until all workers have contributed, and checks that all parameter servers have the same sum.
func (c *config) await(ctx context.Context) error {
	sums := map[int]bool{}
	for _, server := range c.Cluster["ps"] {
		for {
			count, sum, err := ask(ctx, server, "add 0")
			if err != nil {
				return err
			}
			if count == len(c.Cluster["worker"]) {
				sums[sum] = true
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	if len(sums) != 1 {
		return fmt.Errorf("the parameter servers don't agree: %v", sums)
	}
	for sum := range sums {
		fmt.Printf("%s: %d workers made %d at each of %d parameter servers\n", c.Task.Type, len(c.Cluster["worker"]), sum, len(c.Cluster["ps"]))
	}
	return nil
}

// ask sends a line to a parameter server, and returns how many numbers other than 0 it was given, and their sum.
func ask(ctx context.Context, server, line string) (count, sum int, err error) {
	conn, err := peers.Dial(ctx, server)
	if err != nil {
		return 0, 0, err
	}
	defer conn.Close()
	if _, err := fmt.Fprintln(conn, line); err != nil {
		return 0, 0, err
	}
	_, err = fmt.Fscan(conn, &count, &sum)
	return count, sum, err
}

// serve is a parameter server. It ends with ctx.
func serve(ctx context.Context, address string) error {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	listener, err := peers.Listen(ctx, port)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { listener.Close() })
	defer stop()
	var s sums
	for {
		conn, err := listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		go s.answer(conn)
	}
}

// sums is what a parameter server knows.
type sums struct {
	mu         sync.Mutex
	count, sum int
}

func (s *sums) answer(conn net.Conn) {
	defer conn.Close()
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return
	}
	number := 0
	if _, err := fmt.Sscanf(strings.TrimSpace(line), "add %d", &number); err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if number != 0 {
		s.count++
		s.sum += number
	}
	fmt.Fprintln(conn, s.count, s.sum)
}
