package operator

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/effects"
	v1 "github.com/armature-dev/armature/examples/postgres/api/v1"
	"github.com/armature-dev/armature/examples/postgres/server"
)

// The names of the performers. They are in the journals, so they must not change.
const (
	databases = "database"
	users     = "user"
)

// The order of the effects: the database comes before its users, and goes after them.
const (
	first = iota
	second
)

// Plan returns the desired effects, and the status from the results of those that are done.
func Plan(db *v1.Database, observed builder.View) builder.Plan[*v1.Database] {
	p := builder.Plan[*v1.Database]{Status: db.DeepCopy(), Report: true}
	name := nameOf(db.Namespace, db.Name)
	p.Children = append(p.Children, effects.Want(db, effects.Effect{
		Performer: databases, Key: name, Payload: server.Database{Name: name}, Order: first, Retain: db.Spec.DeletionPolicy != v1.Delete,
	}))
	p.Status.Status = v1.DatabaseStatus{Conditions: p.Status.Status.Conditions}
	if address, ok := addressOf(observed, name); ok {
		p.Status.Status.Host, p.Status.Status.Port, p.Status.Status.Database = address.Host, int32(address.Port), address.Database
	}

	for _, u := range db.Spec.Users {
		login := nameOf(db.Namespace, db.Name, u.Name)
		e := effects.Effect{
			Performer: users, Key: login, Order: second,
			Payload: server.User{Name: login, Database: name, ConnectionLimit: limitOf(u)},
		}
		if secret, ok := builder.Lookup[*corev1.Secret](observed, u.PasswordSecret); ok && len(secret.Data[server.PasswordKey]) > 0 {
			e.Secrets = []*corev1.Secret{secret}
		} else {
			p.WaitingFor = append(p.WaitingFor, fmt.Sprintf("Secret %s/%s with the key %q", db.Namespace, u.PasswordSecret, server.PasswordKey))
		}
		p.Children = append(p.Children, effects.Want(db, e))
		if status, ok := effects.Find(observed, users, login); ok && status.Done {
			p.Status.Status.Users = append(p.Status.Status.Users, v1.UserStatus{Name: u.Name, Login: login})
		}
	}
	return p
}

// addressOf returns where a database is, once it was made.
func addressOf(observed builder.View, name string) (address server.Address, ok bool) {
	status, ok := effects.Find(observed, databases, name)
	if !ok || len(status.Result) == 0 {
		return address, false
	}
	return address, json.Unmarshal(status.Result, &address) == nil
}

func limitOf(u v1.User) int32 {
	if u.ConnectionLimit == nil {
		return -1
	}
	return *u.ConnectionLimit
}

// longest is the length of the longest name of PostgreSQL, in bytes.
const longest = 63

// prefix keeps the names apart from those of the server's own objects, and from those that PostgreSQL reserves: pg_ and what follows.
const prefix = "k8s_"

// nameOf returns a name on the server. The namespace follows the prefix, and the names of Kubernetes have no underscore. So no object of
// another namespace has it.
func nameOf(namespace string, names ...string) string {
	full := prefix + namespace + "_" + strings.Join(names, "_")
	if len(full) <= longest {
		return full
	}
	sum := sha256.Sum256([]byte(full))
	hash := "__" + hex.EncodeToString(sum[:])[:20] // no other name has two of these in a row
	return full[:longest-len(hash)] + hash
}
