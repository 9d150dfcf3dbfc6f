package server_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/armature-dev/armature/builder/effects"
	"github.com/armature-dev/armature/examples/postgres/internal/pgtest"
	"github.com/armature-dev/armature/examples/postgres/server"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// call returns the call of a performer for a payload, with a password unless that is empty.
func call(t *testing.T, payload any, password string) effects.Call {
	t.Helper()
	data, err := json.Marshal(payload)
	require.NoError(t, err)
	c := effects.Call{Payload: data}
	if password != "" {
		c.Secrets = map[string]map[string][]byte{"orders-app": {server.PasswordKey: []byte(password)}}
	}
	return c
}

// names of the tests' database and user have what only a quoted identifier has.
func names(t *testing.T) (server.Database, server.User) {
	t.Helper()
	db := server.Database{Name: `team-1_` + t.Name() + `".;`}
	return db, server.User{Name: db.Name + "_app", Database: db.Name, ConnectionLimit: 3}
}

// made makes a database and its user.
func made(t *testing.T) (server.Database, server.User) {
	t.Helper()
	s := pgtest.Server(t)
	db, user := names(t)
	_, err := s.Databases().Do(t.Context(), call(t, db, ""))
	require.NoError(t, err)
	_, err = s.Users().Do(t.Context(), call(t, user, "first"))
	require.NoError(t, err)
	return db, user
}

// A user of a new database logs in with its password, and has all rights in this database, and none in another.
func TestUserWorksInItsDatabase(t *testing.T) {
	db, user := made(t)
	conn, err := pgtest.Connect(t, user.Name, "first", db.Name)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), "CREATE TABLE orders (id int); INSERT INTO orders VALUES (1)")
	require.NoError(t, err)
	var owner string
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT tableowner FROM pg_tables WHERE tablename = 'orders'").Scan(&owner))
	assert.Equal(t, db.Name, owner, "what a user makes belongs to all")

	_, err = pgtest.Connect(t, user.Name, "wrong", db.Name)
	require.ErrorContains(t, err, "password authentication failed")
	other, _ := names(t)
	other.Name += "other"
	_, err = pgtest.Server(t).Databases().Do(t.Context(), call(t, other, ""))
	require.NoError(t, err)
	_, err = pgtest.Connect(t, user.Name, "first", other.Name)
	require.ErrorContains(t, err, "permission denied for database")
	assert.NotContains(t, pgtest.Log(t), "'first'", "the server's log has all statements")
}

var _ = pgx.Identifier{}
