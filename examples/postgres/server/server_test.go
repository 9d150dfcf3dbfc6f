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

// fixture is a database and its user on a server, which the operator has made.
type fixture struct {
	*testing.T
	server *server.Server
	admin  *pgx.Conn
	db     server.Database
	user   server.User
}

// Names have what only a quoted identifier has.
const name = `team-1_orders".;`

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{
		T: t, server: pgtest.Server(t), admin: pgtest.Admin(t, "postgres"),
		db: server.Database{Name: name}, user: server.User{Name: name + "_app", Database: name, ConnectionLimit: 3},
	}
	require.NoError(t, pgtest.Reset(t.Context(), f.admin))
	f.does(f.server.Databases(), f.db, "")
	f.does(f.server.Users(), f.user, "first")
	return f
}

// call returns the call of a performer for a payload, with a password unless that is empty.
func (f *fixture) call(payload any, password string) effects.Call {
	f.Helper()
	data, err := json.Marshal(payload)
	require.NoError(f, err)
	c := effects.Call{Payload: data}
	if password != "" {
		c.Secrets = map[string]map[string][]byte{"orders-app": {server.PasswordKey: []byte(password)}}
	}
	return c
}

// does performs an effect, which then is up to date.
func (f *fixture) does(p effects.Observer, payload any, password string) (result any) {
	f.Helper()
	result, err := p.Do(f.Context(), f.call(payload, password))
	require.NoError(f, err)
	assert.True(f, f.observes(p, payload, password))
	return result
}

func (f *fixture) observes(p effects.Observer, payload any, password string) bool {
	f.Helper()
	upToDate, err := p.Observe(f.Context(), f.call(payload, password))
	require.NoError(f, err)
	return upToDate
}

func (f *fixture) undoes(p effects.Observer, payload any) {
	f.Helper()
	require.NoError(f, p.Undo(f.Context(), f.call(payload, "")))
}

// execute executes statements as the superuser.
func (f *fixture) execute(statements ...string) {
	f.Helper()
	for _, sql := range statements {
		_, err := f.admin.Exec(f.Context(), sql)
		require.NoError(f, err, sql)
	}
}

// connects connects the user.
func (f *fixture) connects(password, database string) (*pgx.Conn, error) {
	f.Helper()
	return pgtest.Connect(f, f.user.Name, password, database)
}

// A user logs in with its password, and has all rights in its database, and none in another.
func TestUserWorksInItsDatabase(t *testing.T) {
	f := newFixture(t)
	conn, err := f.connects("first", f.db.Name)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), "CREATE TABLE orders (id int); INSERT INTO orders VALUES (1)")
	require.NoError(t, err)
	var owner string
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT tableowner FROM pg_tables WHERE tablename = 'orders'").Scan(&owner))
	assert.Equal(t, f.db.Name, owner, "what a user makes belongs to all")

	_, err = f.connects("wrong", f.db.Name)
	require.ErrorContains(t, err, "password authentication failed")
	f.does(f.server.Databases(), server.Database{Name: name + "other"}, "")
	_, err = f.connects("first", name+"other")
	require.ErrorContains(t, err, "permission denied for database")
}

// The result has what the plan can't know.
func TestResult(t *testing.T) {
	f := newFixture(t)
	address := f.does(f.server.Databases(), f.db, "").(server.Address)
	assert.Equal(t, f.db.Name, address.Database)
	assert.Equal(t, uint16(5432), address.Port)
	assert.NotEmpty(t, address.Host)
}

// Each difference is seen, and repaired.
func TestDrift(t *testing.T) {
	f := newFixture(t)
	f.execute("CREATE ROLE eve")
	db, user := pgx.Identifier{f.db.Name}.Sanitize(), pgx.Identifier{f.user.Name}.Sanitize()
	for drift, ofDatabase := range map[string]bool{
		"ALTER DATABASE " + db + " OWNER TO eve":                                  true,
		"GRANT CONNECT ON DATABASE " + db + " TO PUBLIC":                          true,
		"GRANT TEMPORARY ON DATABASE " + db + " TO PUBLIC":                        true,
		"ALTER ROLE " + db + " LOGIN":                                             true,
		"DROP DATABASE " + db + " WITH (FORCE)":                                   true,
		"ALTER ROLE " + user + " NOLOGIN":                                         false,
		"ALTER ROLE " + user + " SUPERUSER":                                       false,
		"ALTER ROLE " + user + " CREATEROLE":                                      false,
		"ALTER ROLE " + user + " NOINHERIT":                                       false,
		"ALTER ROLE " + user + " CONNECTION LIMIT 7":                              false,
		"ALTER ROLE " + user + " VALID UNTIL '2020-01-01'":                        false,
		"ALTER ROLE " + user + " PASSWORD 'another'":                              false,
		"ALTER ROLE " + user + " PASSWORD NULL":                                   false,
		"SET password_encryption = md5; ALTER ROLE " + user + " PASSWORD 'first'": false,
		"REVOKE " + db + " FROM " + user:                                          false,
		"ALTER ROLE " + user + " IN DATABASE " + db + " RESET role":               false,
		"DROP OWNED BY " + user + "; DROP ROLE " + user:                           false,
	} {
		t.Run(drift, func(t *testing.T) {
			f := *f
			f.T = t
			f.execute(drift, "RESET password_encryption")
			if ofDatabase {
				assert.False(t, f.observes(f.server.Databases(), f.db, ""))
				f.does(f.server.Databases(), f.db, "")
			} else {
				assert.False(t, f.observes(f.server.Users(), f.user, "first"))
			}
			f.does(f.server.Users(), f.user, "first")
			_, err := f.connects("first", f.db.Name)
			require.NoError(t, err)
		})
	}
}

// A password changes with its Secret. Without one, it stays.
func TestPassword(t *testing.T) {
	f := newFixture(t)
	assert.False(t, f.observes(f.server.Users(), f.user, "second"))
	f.does(f.server.Users(), f.user, "second")
	f.does(f.server.Users(), f.user, "")
	_, err := f.connects("second", f.db.Name)
	require.NoError(t, err)
	_, err = f.connects("first", f.db.Name)
	require.ErrorContains(t, err, "password authentication failed")
	log := pgtest.Log(t)
	assert.Contains(t, log, "SCRAM-SHA-256$", "the server logs all statements")
	assert.NotContains(t, log, "second", "and no password")

	_, err = f.server.Users().Do(t.Context(), f.call(f.user, "Käse"))
	require.EqualError(t, err, `key "password" of Secret "orders-app": the password's character 2 is not printable ASCII`)
}

// A dropped user is logged out, and what it has made stays.
func TestUserIsDropped(t *testing.T) {
	f := newFixture(t)
	conn, err := f.connects("first", f.db.Name)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), "SET ROLE NONE; CREATE SCHEMA mine; CREATE TABLE mine.orders ()")
	require.NoError(t, err)
	for range 2 {
		f.undoes(f.server.Users(), f.user)
	}
	_, err = conn.Exec(t.Context(), "SELECT 1")
	require.Error(t, err)
	_, err = f.connects("first", f.db.Name)
	require.ErrorContains(t, err, "password authentication failed")
	inside := pgtest.Admin(t, f.db.Name)
	var owner string
	require.NoError(t, inside.QueryRow(t.Context(), "SELECT tableowner FROM pg_tables WHERE tablename = 'orders'").Scan(&owner))
	assert.Equal(t, f.db.Name, owner)
}

// A database is dropped although someone is connected to it, and its users also after it.
func TestDatabaseIsDropped(t *testing.T) {
	f := newFixture(t)
	_, err := f.connects("first", f.db.Name)
	require.NoError(t, err)
	f.execute("DROP DATABASE " + pgx.Identifier{f.db.Name}.Sanitize() + " WITH (FORCE)")
	for range 2 {
		f.undoes(f.server.Users(), f.user)
		f.undoes(f.server.Databases(), f.db)
	}
	var left int
	require.NoError(t, f.admin.QueryRow(t.Context(), "SELECT count(*) FROM pg_roles WHERE rolname LIKE 'team-1%'").Scan(&left))
	assert.Zero(t, left)
}

// A refusal says what is in the way.
func TestRefusalHasItsReason(t *testing.T) {
	f := newFixture(t)
	f.execute("CREATE SCHEMA other AUTHORIZATION " + pgx.Identifier{f.user.Name}.Sanitize())
	err := f.server.Users().Undo(t.Context(), f.call(f.user, ""))
	require.ErrorContains(t, err, "owner of schema other")
	f.execute("DROP SCHEMA other")
	f.undoes(f.server.Users(), f.user)
}
