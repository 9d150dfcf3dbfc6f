// Package podtemplate finds the pod template in an object of any kind and sets a value in it.
//
// It takes an object, typed or unstructured, and changes it in place. If the object has no pod template at spec.template,
// spec.jobTemplate.spec.template or template, it returns false and changes nothing. Another package of this name, of the operators,
// merges the parameters of a batch into templates.
//
// Invariant: it changes nothing but the value that it sets.
package podtemplate
