// Package operator makes each Database a database of a PostgreSQL server, and its users. It has a plan, which is pure, and declares the
// performers of package server, which only the builder calls.
package operator

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/effects"
	v1 "github.com/armature-dev/armature/examples/postgres/api/v1"
	"github.com/armature-dev/armature/examples/postgres/server"
)

// Database describes the operator of Databases on a server. Tests run it without a manager.
func Database(mgr manager.Manager, s *server.Server) *builder.Operator[*v1.Database] {
	observed := effects.Options{Every: time.Minute}
	return builder.NewOperator[*v1.Database](mgr, "database").
		Owns(&appsv1.ControllerRevision{},
			effects.PerformedBy(databases, s.Databases(), observed),
			effects.PerformedBy(users, s.Users(), observed)).
		Watches(&corev1.Secret{}, builder.ReferencedBy(passwords)).
		Plan(Plan)
}

// passwords returns the names of the Secrets of a Database.
func passwords(db *v1.Database) []string {
	var names []string
	for _, u := range db.Spec.Users {
		names = append(names, u.PasswordSecret)
	}
	return names
}
