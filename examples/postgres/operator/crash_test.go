package operator_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/program"
	"github.com/armature-dev/armature/events"
	v1 "github.com/armature-dev/armature/examples/postgres/api/v1"
	"github.com/armature-dev/armature/examples/postgres/internal/pgtest"
	"github.com/armature-dev/armature/examples/postgres/operator"
	"github.com/armature-dev/armature/examples/postgres/server"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// fixture is a Database on a simulated API server, and on a real PostgreSQL.
type fixture struct {
	testing.TB
	db    *v1.Database
	admin *pgx.Conn
}

func newFixture(t testing.TB, db *v1.Database) *fixture {
	return &fixture{t, db, pgtest.Admin(t, "postgres")}
}

// scenario returns a scenario in which a crash of the operator's process comes after an SQL statement, too.
func (f *fixture) scenario(then ...buildertest.Edit) buildertest.Scenario {
	objects := []client.Object{f.db}
	for _, u := range f.db.Spec.Users {
		objects = append(objects, secret(u.PasswordSecret, server.PasswordKey, passwordOf(u.Name)))
	}
	return buildertest.Scenario{
		Scheme:   program.NewScheme(v1.AddToScheme),
		Options:  []buildertest.Option{buildertest.WithCRDs("../config")},
		Objects:  objects,
		Requests: []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(f.db)}},
		Outside:  func(ctx context.Context) error { return pgtest.Reset(ctx, f.admin) },
		Reconciler: func(process *buildertest.Client) (reconcile.Reconciler, error) {
			s := pgtest.Server(f).With(func(connect server.Connect) server.Connect {
				return func(ctx context.Context, database string) (server.Conn, error) {
					if database == "" { // one connection for all passes of all processes takes a tenth of the time
						return mortal{unclosed{f.admin}, process}, nil
					}
					conn, err := connect(ctx, database)
					return mortal{conn, process}, err
				}
			})
			return buildertest.NewReconciler(operator.Database(nil, s), process, process.Now)
		},
		Then: then,
	}
}

func passwordOf(user string) string { return "password of " + user }

// mortal is a connection of a process that crashes.
type mortal struct {
	server.Conn

	process *buildertest.Client
}

func (m mortal) Exec(ctx context.Context, sql string, arguments ...any) (tag pgconn.CommandTag, err error) {
	err = m.process.Outside(sql, func() (err error) {
		tag, err = m.Conn.Exec(ctx, sql, arguments...)
		return err
	})
	return tag, err
}

// unclosed is a connection that several use.
type unclosed struct{ server.Conn }

func (unclosed) Close(context.Context) error { return nil }

// as returns a step that executes statements in the database, as a user with the password of its Secret.
func (f *fixture) as(user string, statements ...string) buildertest.Edit {
	return func(ctx context.Context, _ client.Client) error {
		conn, err := pgx.Connect(ctx, pgtest.URL(f, "k8s_team_orders_"+user, passwordOf(user), "k8s_team_orders"))
		if err != nil {
			return err
		}
		defer conn.Close(ctx)
		return execute(ctx, conn, statements)
	}
}

// drifts returns a step that executes statements as the superuser.
func (f *fixture) drifts(statements ...string) buildertest.Edit {
	return func(ctx context.Context, _ client.Client) error { return execute(ctx, f.admin, statements) }
}

func execute(ctx context.Context, conn *pgx.Conn, statements []string) error {
	for _, sql := range statements {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
	}
	return nil
}

// has returns a step that fails unless the server has exactly these databases and roles beside its own.
func (f *fixture) has(names ...string) buildertest.Edit {
	return func(ctx context.Context, _ client.Client) error {
		rows, _ := f.admin.Query(ctx, `
			SELECT 'database ' || datname FROM pg_database WHERE datname LIKE 'k8s%'
			UNION SELECT 'role ' || rolname FROM pg_roles WHERE rolname LIKE 'k8s%' ORDER BY 1`)
		got, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err == nil && strings.Join(got, ", ") != strings.Join(names, ", ") {
			err = fmt.Errorf("the server has %q, desired are %q", got, names)
		}
		return err
	}
}

// isReady is a step that fails unless the Database is ready.
func isReady(ctx context.Context, c client.Client) error {
	db := orders()
	if err := c.Get(ctx, client.ObjectKeyFromObject(db), db); err != nil {
		return err
	}
	if !meta.IsStatusConditionTrue(db.Status.Conditions, events.ConditionReady) {
		return fmt.Errorf("the Database isn't ready: %+v", db.Status)
	}
	return nil
}

// change returns a step that edits the Database.
func change(f func(*v1.Database)) buildertest.Edit { return buildertest.Change(orders(), f) }

func deleted(ctx context.Context, c client.Client) error { return c.Delete(ctx, orders()) }

func created(obj client.Object) buildertest.Edit {
	return func(ctx context.Context, c client.Client) error {
		return c.Create(ctx, obj.DeepCopyObject().(client.Object))
	}
}

// at joins steps that are taken at the same time. Between two steps of a scenario, all effects are observed three times.
func at(steps ...buildertest.Edit) buildertest.Edit {
	return func(ctx context.Context, c client.Client) error {
		for _, step := range steps {
			if err := step(ctx, c); err != nil {
				return err
			}
		}
		return nil
	}
}

const (
	database = "database k8s_team_orders"
	role     = "role k8s_team_orders"
)

// Wherever the process crashes, after a write to the API server or after an SQL statement: in the end the server has the desired
// databases and users, each made once, so that what is in them stays.
func TestCrashEverywhere(t *testing.T) {
	pgtest.Server(t) // or skip all of it
	t.Run("users change", func(t *testing.T) {
		f := newFixture(t, orders(shop()))
		buildertest.CrashEverywhere(t, f.scenario(
			at(isReady,
				f.as("shop", "CREATE TABLE orders AS SELECT 7 AS id", "SET ROLE NONE", "CREATE SCHEMA mine"),
				created(secret("report", server.PasswordKey, passwordOf("report"))),
				change(func(db *v1.Database) { db.Spec.Users = []v1.User{{Name: "report", PasswordSecret: "report"}} })),
			at(isReady, f.has(database, role, role+"_report"),
				f.as("report", "SELECT 1/count(*) FROM orders", "DROP SCHEMA mine")),
		))
	})
	t.Run("drift", func(t *testing.T) {
		f := newFixture(t, orders(shop()))
		buildertest.CrashEverywhere(t, f.scenario(
			f.drifts("CREATE ROLE k8s_eve", "GRANT CONNECT ON DATABASE k8s_team_orders TO PUBLIC",
				"ALTER DATABASE k8s_team_orders OWNER TO k8s_eve", "ALTER ROLE k8s_team_orders_shop SUPERUSER PASSWORD 'stolen'"),
			at(isReady, f.as("shop", "CREATE TABLE orders ()"),
				f.drifts("DROP ROLE k8s_eve", "DROP DATABASE k8s_team_orders WITH (FORCE)", "DROP ROLE k8s_team_orders_shop", "DROP ROLE k8s_team_orders")),
			at(isReady, f.as("shop", "CREATE TABLE orders ()"), f.has(database, role, role+"_shop")),
		))
	})
	t.Run("deleted", func(t *testing.T) {
		f := newFixture(t, orders(shop()))
		f.db.Spec.DeletionPolicy = v1.Delete
		buildertest.CrashEverywhere(t, f.scenario(at(isReady, deleted), f.has()))
	})
	t.Run("retained", func(t *testing.T) {
		f := newFixture(t, orders(shop()))
		buildertest.CrashEverywhere(t, f.scenario(
			at(f.as("shop", "CREATE TABLE orders AS SELECT 7 AS id"), deleted),
			at(f.has(database, role), created(f.db)),
			at(isReady, f.as("shop", "SELECT 1/count(*) FROM orders")),
		))
	})
}
