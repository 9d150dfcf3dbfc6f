// Package pgtest starts a PostgreSQL server for the tests of a package, of the programs that are installed on this machine.
//
//	func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }
//
// The server has a directory of its own, which has its data and its socket, and no port. It ends with the test process, also when that is
// killed.
package pgtest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/armature-dev/armature/examples/postgres/server"
)

// Programs is the environment variable with the directory of PostgreSQL's programs. "none" skips the tests that need a server. Default:
// those of Debian's package, or those in PATH.
const Programs = "POSTGRES_PROGRAMS"

const password = "only-for-tests"

// running is the directory of the server; empty: there is none.
var running string

// Run runs the tests of a package beside a server, and returns the exit code.
func Run(m *testing.M) int {
	programs, err := programs()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if programs == "" {
		return m.Run()
	}
	stop, err := start(programs)
	if err != nil {
		fmt.Fprintln(os.Stderr, "start PostgreSQL:", err)
		return 1
	}
	defer stop()
	return m.Run()
}

func programs() (string, error) {
	switch dir := os.Getenv(Programs); dir {
	case "none":
		return "", nil
	case "":
	default:
		return dir, nil
	}
	if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb"); len(found) > 0 {
		return filepath.Dir(found[len(found)-1]), nil
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path), nil
	}
	return "", fmt.Errorf("there is no initdb below /usr/lib/postgresql or in PATH: install PostgreSQL (hack/postgres.sh), "+
		"set %s to the directory of its programs, or to none to skip the tests that need a server", Programs)
}

// script makes a server in the working directory, says that it is ready, and removes both when its input ends: when the test process does.
const script = `
	set -e
	trap 'status=$?; [ $status = 0 ] || cat log >&2; cd /; rm -rf "$dir"; exit $status' EXIT
	programs=$1 dir=$PWD
	echo "$2" >password
	"$programs/initdb" --pgdata=data --no-sync --auth=scram-sha-256 --username=postgres --pwfile=password >log 2>&1
	options="-k '$dir' -c listen_addresses= -c log_statement=all"
	options="$options -c fsync=off -c full_page_writes=off -c autovacuum=off -c shared_buffers=16MB"
	"$programs/pg_ctl" -D data -l log -w -o "$options" start >>log 2>&1
	echo ready
	cat >/dev/null
	"$programs/pg_ctl" -D data -m immediate -w stop >>log 2>&1`

// start starts a server, and returns what stops it.
func start(programs string) (stop func(), err error) {
	dir, err := os.MkdirTemp(parent(), "pgtest")
	if err != nil {
		return nil, err
	}
	// In a process group of its own, so that ctrl-C ends the test process first.
	attributes := &syscall.SysProcAttr{Setpgid: true}
	if os.Getuid() == 0 {
		if attributes.Credential, err = unprivileged(); err != nil {
			return nil, err
		}
		if err := os.Chown(dir, int(attributes.Credential.Uid), int(attributes.Credential.Gid)); err != nil {
			return nil, err
		}
	}
	cmd := exec.Command("sh", "-c", script, "pgtest", programs, password)
	cmd.Dir, cmd.SysProcAttr, cmd.Stderr = dir, attributes, os.Stderr
	alive, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	said, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if line, err := bufio.NewReader(said).ReadString('\n'); line != "ready\n" {
		return nil, errors.Join(err, cmd.Wait())
	}
	running = dir
	return func() {
		alive.Close()
		if err := cmd.Wait(); err != nil {
			fmt.Fprintln(os.Stderr, "stop PostgreSQL:", err)
		}
	}, nil
}

// parent returns the directory of temporary files, or one in memory, if that has room: each new database is 300 files.
func parent() string {
	const memory, room = "/dev/shm", 512 << 20
	var has syscall.Statfs_t
	if err := syscall.Statfs(memory, &has); err == nil && has.Bavail*uint64(has.Bsize) > room {
		return memory
	}
	return os.TempDir()
}

// unprivileged returns the user of Debian's package: the server refuses to run as root.
func unprivileged() (*syscall.Credential, error) {
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("root can't run a server, and: %w", err)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, err
}

// Server returns the package's server. Without one, the test is skipped.
func Server(t testing.TB) *server.Server {
	t.Helper()
	s, err := server.At(URL(t, "postgres", password, "postgres"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// URL returns the URL with which a user connects to a database.
func URL(t testing.TB, user, password, database string) string {
	t.Helper()
	if running == "" {
		t.Skipf("%s=none: there is no PostgreSQL server", Programs)
	}
	u := url.URL{Scheme: "postgres", User: url.UserPassword(user, password), Path: "/" + database, RawQuery: "host=" + running}
	return u.String()
}

// Connect connects a user to a database until the end of the test.
func Connect(t testing.TB, user, password, database string) (*pgx.Conn, error) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), URL(t, user, password, database))
	if err == nil {
		t.Cleanup(func() { conn.Close(context.Background()) })
	}
	return conn, err
}

// Admin connects the superuser to a database until the end of the test.
func Admin(t testing.TB, database string) *pgx.Conn {
	t.Helper()
	conn, err := Connect(t, "postgres", password, database)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// Reset removes all databases and roles but those of a new server, by a connection of the superuser.
func Reset(ctx context.Context, admin *pgx.Conn) error {
	for _, query := range []string{
		"SELECT format('DROP DATABASE %I WITH (FORCE)', datname) FROM pg_database WHERE NOT datistemplate AND datname <> 'postgres'",
		"SELECT format('DROP ROLE %I', rolname) FROM pg_roles WHERE rolname <> 'postgres' AND rolname NOT LIKE 'pg\\_%'",
	} {
		rows, _ := admin.Query(ctx, query) // CollectRows returns its error
		drops, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return err
		}
		for _, sql := range drops {
			if _, err := admin.Exec(ctx, sql); err != nil {
				return fmt.Errorf("%s: %w", sql, err)
			}
		}
	}
	return nil
}

// Log returns what the server has logged, all statements among it.
func Log(t testing.TB) string {
	t.Helper()
	log, err := os.ReadFile(filepath.Join(running, "log"))
	if err != nil {
		t.Fatal(err)
	}
	return string(log)
}
