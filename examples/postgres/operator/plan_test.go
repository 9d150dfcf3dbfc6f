package operator_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/effects"
	"github.com/armature-dev/armature/builder/effects/effectstest"
	v1 "github.com/armature-dev/armature/examples/postgres/api/v1"
	"github.com/armature-dev/armature/examples/postgres/operator"
	"github.com/armature-dev/armature/examples/postgres/server"
)

// orders is a Database with users, whose Secrets have the users' names.
func orders(users ...v1.User) *v1.Database {
	db := &v1.Database{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "orders", UID: "5b0e"}}
	db.Spec.Users = users
	return db
}

func shop() v1.User { return v1.User{Name: "shop", PasswordSecret: "shop"} }

func secret(name, key, value string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name}, Data: map[string][]byte{key: []byte(value)}}
}

// The effects of a plan, by the Database, the Secrets and the results of earlier effects.
func TestPlan(t *testing.T) {
	limited, dropped := orders(v1.User{Name: "shop", PasswordSecret: "shop", ConnectionLimit: new(int32(2))}), orders()
	dropped.Spec.DeletionPolicy = v1.Delete
	const (
		database = `database "k8s_team_orders": {"name":"k8s_team_orders"}`
		user     = `user "k8s_team_orders_shop": {"name":"k8s_team_orders_shop","database":"k8s_team_orders","connectionLimit":-1}`
		two      = `user "k8s_team_orders_shop": {"name":"k8s_team_orders_shop","database":"k8s_team_orders","connectionLimit":2}`
		missing  = `Secret team/shop with the key "password"`
	)
	password := secret("shop", "password", "x")
	for name, c := range map[string]struct {
		db       *v1.Database
		observed *corev1.Secret
		effects  []string
		waits    []string
	}{
		"without users":         {orders(), nil, []string{database + ", retained"}, nil},
		"to be dropped":         {dropped, nil, []string{database}, nil},
		"a user":                {orders(shop()), password, []string{database + ", retained", user + ", Secrets shop, order 1"}, nil},
		"a limited user":        {limited, password, []string{database + ", retained", two + ", Secrets shop, order 1"}, nil},
		"a Secret is missing":   {orders(shop()), secret("other", "password", "x"), []string{database + ", retained", user + ", order 1"}, []string{missing}},
		"a password is missing": {orders(shop()), secret("shop", "pass", "x"), []string{database + ", retained", user + ", order 1"}, []string{missing}},
	} {
		t.Run(name, func(t *testing.T) {
			before := c.db.DeepCopy()
			var observed []client.Object
			if c.observed != nil {
				observed = append(observed, c.observed)
			}
			p := operator.Plan(c.db, buildertest.NewView(buildertest.Epoch, observed...))
			assert.Equal(t, before, c.db, "the owner is the cache's")
			assert.Equal(t, c.effects, effectstest.Describe(p.Children))
			assert.Equal(t, c.waits, p.WaitingFor)
			assert.Empty(t, p.Status.Status, "nothing is done yet")
		})
	}
}

// The status has what is done, from the results.
func TestStatus(t *testing.T) {
	db := orders(shop(), v1.User{Name: "report", PasswordSecret: "report"})
	p := operator.Plan(db, buildertest.NewView(buildertest.Epoch,
		effectstest.Done(db, effects.Effect{Performer: "database", Key: "k8s_team_orders"}, server.Address{Host: "db", Port: 5432, Database: "k8s_team_orders"}),
		effectstest.Done(db, effects.Effect{Performer: "user", Key: "k8s_team_orders_report", Order: 1}, nil)))
	assert.Equal(t, v1.DatabaseStatus{
		Host: "db", Port: 5432, Database: "k8s_team_orders", Users: []v1.UserStatus{{Name: "report", Login: "k8s_team_orders_report"}},
	}, p.Status.Status)
}
