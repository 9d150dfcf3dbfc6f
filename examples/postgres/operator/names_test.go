package operator_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/effects/effectstest"
	v1 "github.com/armature-dev/armature/examples/postgres/api/v1"
	"github.com/armature-dev/armature/examples/postgres/internal/pgtest"
	"github.com/armature-dev/armature/examples/postgres/operator"
)

// namesOf returns the names on the server of what a Database desires: its own, and those of its users.
func namesOf(db *v1.Database) (names []string) {
	for _, line := range effectstest.Describe(operator.Plan(db, buildertest.NewView(buildertest.Epoch)).Children) {
		names = append(names, strings.Split(line, `"`)[1])
	}
	return names
}

// PostgreSQL reserves the names of roles that begin with pg_. A namespace can be called pg.
func TestNamesAreNotReserved(t *testing.T) {
	admin := pgtest.Admin(t, "postgres")
	require.NoError(t, pgtest.Reset(t.Context(), admin))
	db := orders(shop())
	db.Namespace = "pg"
	for _, name := range namesOf(db) {
		_, err := admin.Exec(t.Context(), "CREATE ROLE "+pgx.Identifier{name}.Sanitize())
		require.NoError(t, err)
	}
	require.NoError(t, pgtest.Reset(t.Context(), admin))
}

// Names on the server are different for different objects, and short enough for PostgreSQL, which cuts longer ones.
func TestLongNames(t *testing.T) {
	long := strings.Repeat("a", 63)
	names := map[string]bool{}
	for _, name := range []string{"b", "c"} {
		db := orders(shop())
		db.Namespace, db.Name = long, long+name
		for _, key := range namesOf(db) {
			assert.LessOrEqual(t, len(key), 63)
			names[key] = true
		}
	}
	assert.Len(t, names, 4)
}

// Nobody can choose a namespace and names so that their database is the one of a longer name: one part of it is empty, as no name is.
func TestLongNamesAreNobodyElses(t *testing.T) {
	db := orders()
	db.Namespace = strings.Repeat("a", 63)
	key := namesOf(db)[0]
	assert.Contains(t, strings.Split(key, "_"), "", key)
}
