// Package admission is the validating webhook: it refuses, when it is applied, a spec that its operator couldn't carry out.
//
// It has no rules of its own. It asks the operator's plan what it would say of the object if there were nothing else in the
// cluster, and refuses what the plan would call invalid (Stalled, with reason InvalidSpec). So what is refused here is
// just what would get that condition without the webhook. What depends on other objects isn't refused: a template may come later.
package admission
