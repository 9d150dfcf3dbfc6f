package server

import (
	"context"

	"github.com/armature-dev/armature/builder/effects"
)

// Database is a database in its desired state. It belongs to a role of its own, of the same name, in which all its users are members. So
// what one of them makes belongs to all, and stays when that user goes.
type Database struct {
	Name string `json:"name"`
}

// Address is where a database is.
type Address struct {
	Host     string `json:"host"`
	Port     uint16 `json:"port"`
	Database string `json:"database"`
}

func (d Database) result(s *Server) any {
	return Address{Host: s.config.Host, Port: s.config.Port, Database: d.Name}
}

// databaseState is the state of a database on the server.
type databaseState struct {
	role, login bool   // there is its role, which may log in
	exists      bool   // there is the database
	owner       string // of the database
	public      bool   // any user of the server may connect to it
}

func (d Database) observe(ctx context.Context, conn Conn) (s databaseState, err error) {
	return s, conn.QueryRow(ctx, `
		SELECT r.oid IS NOT NULL, coalesce(r.rolcanlogin, false), d.oid IS NOT NULL, coalesce(pg_get_userbyid(d.datdba), ''),
			coalesce(has_database_privilege('public', d.oid, 'CONNECT') OR has_database_privilege('public', d.oid, 'TEMPORARY'), false)
		FROM (VALUES ($1)) AS desired(name)
		LEFT JOIN pg_roles r ON r.rolname = desired.name
		LEFT JOIN pg_database d ON d.datname = desired.name`, d.Name,
	).Scan(&s.role, &s.login, &s.exists, &s.owner, &s.public)
}

func (d Database) missing(ctx context.Context, conn Conn, _ effects.Call) ([]statement, error) {
	s, err := d.observe(ctx, conn)
	return d.statements(s), err
}

// statements returns what leads from a state to the desired one.
func (d Database) statements(s databaseState) []statement {
	var todo []string
	name := quoted(d.Name)
	switch {
	case !s.role:
		todo = append(todo, "CREATE ROLE "+name+" NOLOGIN")
	case s.login:
		todo = append(todo, "ALTER ROLE "+name+" NOLOGIN")
	}
	switch {
	case !s.exists:
		todo = append(todo, "CREATE DATABASE "+name+" OWNER "+name)
	case s.owner != d.Name:
		todo = append(todo, "ALTER DATABASE "+name+" OWNER TO "+name)
	}
	if !s.exists || s.public { // as every new database is
		todo = append(todo, "REVOKE CONNECT, TEMPORARY ON DATABASE "+name+" FROM PUBLIC")
	}
	return anywhere(todo...)
}

func (d Database) leftover(ctx context.Context, conn Conn) ([]statement, error) {
	s, err := d.observe(ctx, conn)
	if err != nil {
		return nil, err
	}
	var todo []string
	if s.exists {
		todo = append(todo, "DROP DATABASE "+quoted(d.Name)+" WITH (FORCE)") // and end the connections to it
	}
	if s.role {
		todo = append(todo, "DROP ROLE "+quoted(d.Name))
	}
	return anywhere(todo...), nil
}
