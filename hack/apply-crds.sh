# shellcheck shell=bash
# Sourced by scripts, which define kubectl.

# apply_crds applies the CRDs in a directory, and waits until the API server serves their kinds. It doesn't say so of one of which
# nothing is known yet: there kubectl wait --for=condition fails at once instead of waiting.
apply_crds() {
  kubectl apply --server-side -f "$1"
  kubectl wait --for='jsonpath={.status.conditions[0].type}' --timeout=5m -f "$1" >/dev/null
  kubectl wait --for=condition=Established --timeout=5m -f "$1" >/dev/null
}
