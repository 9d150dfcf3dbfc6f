package server

import (
	"context"
	"fmt"

	"github.com/armature-dev/armature/builder/effects"
)

// PasswordKey is the key of the password in a Secret.
const PasswordKey = "password"

// User is a user of a database in its desired state: a role that may log in, has the rights of the database's role, and no others.
type User struct {
	Name            string `json:"name"`
	Database        string `json:"database"`
	ConnectionLimit int32  `json:"connectionLimit"`
}

func (u User) result(*Server) any { return nil }

// userState is the state of a user on the server.
type userState struct {
	exists     bool
	attributes bool   // it may log in, and nothing that only few may
	limit      int32  // of its connections
	verifier   string // of its password; empty: it has none
	member     bool   // of the role of the database
	acts       bool   // as that role, once connected to the database

	database bool // the database exists
	role     bool // the role of the database exists
}

func (u User) observe(ctx context.Context, conn Conn) (s userState, err error) {
	return s, conn.QueryRow(ctx, `
		SELECT u.oid IS NOT NULL,
			coalesce(u.rolcanlogin AND u.rolinherit AND coalesce(u.rolvaliduntil = 'infinity', true) AND NOT
				(u.rolsuper OR u.rolcreatedb OR u.rolcreaterole OR u.rolreplication OR u.rolbypassrls), false),
			coalesce(u.rolconnlimit, -1), coalesce(u.rolpassword, ''),
			EXISTS (SELECT FROM pg_auth_members m WHERE m.roleid = r.oid AND m.member = u.oid),
			EXISTS (SELECT FROM pg_db_role_setting c WHERE c.setdatabase = d.oid AND c.setrole = u.oid AND 'role=' || r.rolname = ANY (c.setconfig)),
			d.oid IS NOT NULL, r.oid IS NOT NULL
		FROM (VALUES ($1, $2)) AS desired(name, database)
		LEFT JOIN pg_authid u ON u.rolname = desired.name
		LEFT JOIN pg_authid r ON r.rolname = desired.database
		LEFT JOIN pg_database d ON d.datname = desired.database`, u.Name, u.Database,
	).Scan(&s.exists, &s.attributes, &s.limit, &s.verifier, &s.member, &s.acts, &s.database, &s.role)
}

func (u User) missing(ctx context.Context, conn Conn, call effects.Call) ([]statement, error) {
	s, err := u.observe(ctx, conn)
	if err != nil {
		return nil, err
	}
	for name, secret := range call.Secrets {
		password := string(secret[PasswordKey])
		if isVerified(password, s.verifier) {
			continue
		}
		verifier, err := newVerifier(password)
		if err != nil {
			return nil, fmt.Errorf("key %q of Secret %q: %w", PasswordKey, name, err)
		}
		return u.statements(s, verifier), nil
	}
	return u.statements(s, ""), nil
}

// statements returns what leads from a state to the desired one, with a verifier of another password, unless that is empty.
func (u User) statements(s userState, verifier string) []statement {
	var todo []string
	name, database := quoted(u.Name), quoted(u.Database)
	attributes := fmt.Sprintf(" LOGIN INHERIT NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS CONNECTION LIMIT %d "+
		"VALID UNTIL 'infinity'", u.ConnectionLimit)
	switch {
	case !s.exists:
		todo = append(todo, "CREATE ROLE "+name+attributes)
	case !s.attributes || s.limit != u.ConnectionLimit:
		todo = append(todo, "ALTER ROLE "+name+attributes)
	}
	if verifier != "" {
		todo = append(todo, "ALTER ROLE "+name+" PASSWORD '"+verifier+"'")
	}
	if !s.member {
		todo = append(todo, "GRANT "+database+" TO "+name)
	}
	if !s.acts {
		todo = append(todo, "ALTER ROLE "+name+" IN DATABASE "+database+" SET role TO "+database)
	}
	return anywhere(todo...)
}

func (u User) leftover(ctx context.Context, conn Conn) ([]statement, error) {
	s, err := u.observe(ctx, conn)
	if err != nil || !s.exists {
		return nil, err
	}
	name, id := quoted(u.Name), []any{u.Name}
	todo := []statement{
		{sql: "ALTER ROLE " + name + " NOLOGIN"},
		{sql: "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1", arguments: id},
	}
	if s.database && s.role {
		todo = append(todo, statement{sql: "REASSIGN OWNED BY " + name + " TO " + quoted(u.Database), inside: u.Database})
	}
	if s.database {
		todo = append(todo, statement{sql: "DROP OWNED BY " + name, inside: u.Database}) // its privileges; nothing else is left
	}
	return append(todo, statement{sql: "DROP ROLE " + name}), nil
}
