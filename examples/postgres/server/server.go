// Package server makes, observes and removes databases and users of a PostgreSQL server.
//
// A database and a user are each a pure function of two values, as a plan is: the desired and the observed state give the SQL statements
// that lead from one to the other. Read it in this order:
//
//	server.go    the connection, and the performer: observe, decide, execute
//	database.go  what a database needs
//	user.go      what a user needs
//	scram.go     passwords, which the server never receives in clear
package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/armature-dev/armature/builder/effects"
)

// Server is a PostgreSQL server.
type Server struct {
	config  *pgx.ConnConfig
	connect Connect
}

// Connect connects to a database; empty: that of the server's URL.
type Connect func(ctx context.Context, database string) (Conn, error)

// Conn is a connection to a database.
type Conn interface {
	Exec(ctx context.Context, sql string, arguments ...any) (pgconn.CommandTag, error)
	QueryRow(ctx context.Context, sql string, arguments ...any) pgx.Row
	Close(ctx context.Context) error
}

// At returns the server of a URL such as postgres://postgres@localhost/postgres, of a superuser. The environment variables of PostgreSQL's
// own programs, such as PGPASSWORD, have what the URL doesn't have. It doesn't connect.
func At(url string) (*Server, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	connect := func(ctx context.Context, database string) (Conn, error) {
		to := config.Copy()
		to.Database = cmp.Or(database, to.Database)
		conn, err := pgx.ConnectConfig(ctx, to)
		if err != nil {
			return nil, err // and not a nil *pgx.Conn in an interface
		}
		return conn, nil
	}
	return &Server{config, connect}, nil
}

// With returns the server with another way to connect, for tests.
func (s *Server) With(wrap func(Connect) Connect) *Server { return &Server{s.config, wrap(s.connect)} }

// Databases returns the performer of effects whose payload is a Database. Its result is an Address.
func (s *Server) Databases() effects.Observer { return performer[Database]{s} }

// Users returns the performer of effects whose payload is a User. The Secret of the effect has the password under PasswordKey.
func (s *Server) Users() effects.Observer { return performer[User]{s} }

// thing is what a performer takes care of.
type thing interface {
	// missing returns the statements that bring the thing from its state on the server to the desired state; none if it has it.
	missing(ctx context.Context, conn Conn, call effects.Call) ([]statement, error)
	// leftover returns the statements that remove the thing; none if there is nothing of it.
	leftover(ctx context.Context, conn Conn) ([]statement, error)
	// result is what a plan learns of the thing.
	result(s *Server) any
}

// performer carries out the effects of one kind of things. Each statement has its whole effect or none, and each attempt begins with what
// is there. So an attempt may end anywhere, and the next one does the rest.
type performer[T thing] struct{ server *Server }

// Do executes what is missing.
func (p performer[T]) Do(ctx context.Context, call effects.Call) (any, error) {
	t, conn, err := p.begin(ctx, call)
	if err != nil {
		return nil, err
	}
	defer conn.Close(ctx)
	todo, err := t.missing(ctx, conn, call)
	if err != nil {
		return nil, err
	}
	return t.result(p.server), p.server.execute(ctx, conn, todo)
}

// Observe reports whether nothing is missing.
func (p performer[T]) Observe(ctx context.Context, call effects.Call) (upToDate bool, err error) {
	t, conn, err := p.begin(ctx, call)
	if err != nil {
		return false, err
	}
	defer conn.Close(ctx)
	todo, err := t.missing(ctx, conn, call)
	return len(todo) == 0, err
}

// Undo removes what is there.
func (p performer[T]) Undo(ctx context.Context, call effects.Call) error {
	t, conn, err := p.begin(ctx, call)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	todo, err := t.leftover(ctx, conn)
	if err != nil {
		return err
	}
	return p.server.execute(ctx, conn, todo)
}

// begin decodes the payload and connects.
func (p performer[T]) begin(ctx context.Context, call effects.Call) (t T, conn Conn, err error) {
	if err := call.Decode(&t); err != nil {
		return t, nil, err
	}
	conn, err = p.server.connect(ctx, "")
	return t, conn, err
}

// statement is one SQL statement.
type statement struct {
	sql       string
	arguments []any
	inside    string // the database in which it is executed; empty: any
}

func anywhere(sql ...string) []statement {
	var all []statement
	for _, s := range sql {
		all = append(all, statement{sql: s})
	}
	return all
}

// execute executes statements in their order.
func (s *Server) execute(ctx context.Context, conn Conn, todo []statement) error {
	for _, st := range todo {
		if err := s.executeOne(ctx, conn, st); err != nil {
			return err
		}
	}
	return nil
}

func (s *Server) executeOne(ctx context.Context, conn Conn, st statement) error {
	if st.inside != "" {
		inside, err := s.connect(ctx, st.inside)
		if err != nil {
			return err
		}
		defer inside.Close(ctx)
		conn = inside
	}
	_, err := conn.Exec(ctx, st.sql, st.arguments...)
	// Who reads the conditions needs to know what still depends on a role that can't be dropped.
	if refusal := new(pgconn.PgError); errors.As(err, &refusal) && refusal.Detail != "" {
		return fmt.Errorf("%w: %s", err, refusal.Detail)
	}
	return err
}

// quoted returns a name as an identifier of SQL.
func quoted(name string) string { return pgx.Identifier{name}.Sanitize() }
